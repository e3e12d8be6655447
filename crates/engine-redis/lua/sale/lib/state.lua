-- sale/lib/state: SKUs, codes, purchases and buyers, read when they are asked for and changed in memory only;
-- `commit` writes them. All stand in one hash: `sku:<n>` = stock|reserved|sold|price, `@<buyer>` =
-- reserved|bought|codes, and under a code's id what became of it:
--   c|fence|placed|until|order|lines|buyer      it lives
--   p|fence|at|order|lines|refunded|buyer       it bought something
--   e|at|how                                    it is over
local facts, meta_changes, ended = {}, {}, {}
local levels, things, buyers, orders = {}, {}, {}, {}
local levels_dirty, things_dirty, buyers_dirty, orders_dirty = {}, {}, {}, {}
local due_changes, open_changes = {}, {}

-- Takes the next offset for a fact; returns the fence it grants.
local function emit(fact)
  offset = offset + 1
  facts[#facts + 1] = fact
  return epoch * BOUND.FENCE_EPOCH + offset
end

local function level(sku)
  local known = levels[sku]
  if known == nil then
    local text = sku < skus_len and call("HGET", KEYS[2], "sku:" .. sku)
    known = false
    if text then
      local stock, reserved, sold, price = match(text, "^(%d+)|(%d+)|(%d+)|(%d+)$")
      known = {stock = tonumber(stock), reserved = tonumber(reserved), sold = tonumber(sold),
        price = tonumber(price)}
    end
    levels[sku] = known
  end
  return known
end

local function available(of)
  return of.stock - of.reserved - of.sold
end

local function change_level(sku, what, by)
  local known = level(sku)
  known[what] = known[what] + by
  levels_dirty[sku] = true
end

local function read_thing(id, text)
  local kind = string.sub(text, 1, 1)
  if kind == "c" then
    local fence, placed, till, order, lines, buyer = match(text, "^c|(%d+)|(%d+)|(%d+)|(%w*)|([%d:,]*)|(.*)$")
    return {kind = kind, id = id, fence = tonumber(fence), placed = tonumber(placed), till = tonumber(till),
      order = order, lines = read_lines(lines), buyer = buyer}
  elseif kind == "p" then
    local fence, at, order, lines, refunded, buyer = match(text, "^p|(%d+)|(%d+)|(%w+)|([%d:,]*)|([%d,]*)|(.*)$")
    local back = {}
    for count in gmatch(refunded, "%d+") do back[#back + 1] = tonumber(count) end
    return {kind = kind, id = id, fence = tonumber(fence), at = tonumber(at), order = order,
      lines = read_lines(lines), back = back, buyer = buyer}
  end
  local at, how = match(text, "^e|(%d+)|(%d)$")
  return {kind = kind, id = id, at = tonumber(at), how = tonumber(how)}
end

local function write_thing(one)
  if one.kind == "c" then
    return format("c|%.0f|%.0f|%.0f|%s|%s|%s", one.fence, one.placed, one.till, one.order, write_lines(one.lines),
      one.buyer)
  elseif one.kind == "p" then
    return format("p|%.0f|%.0f|%s|%s|%s|%s", one.fence, one.at, one.order, write_lines(one.lines),
      table.concat(one.back, ","), one.buyer)
  end
  return format("e|%.0f|%d", one.at, one.how)
end

local function thing(id)
  local known = things[id]
  if known == nil then
    local text = call("HGET", KEYS[2], id)
    known = text and read_thing(id, text) or false
    things[id] = known
  end
  return known
end

local function put_thing(id, one)
  things[id] = one
  things_dirty[id] = true
end

-- The living code of this id, and the purchase of it.
local function code_of(id)
  local one = thing(id)
  return one and one.kind == "c" and one or nil
end

local function purchase_of(id)
  local one = thing(id)
  return one and one.kind == "p" and one or nil
end

-- How a code ended, for an hour.
local function ended_as(id)
  local one = thing(id)
  return one and one.kind == "e" and now - one.at < BOUND.ENDED_MS and one.how or nil
end

-- An id that is no longer remembered as ended; it may have become something else since.
local function forget_thing(id)
  local one = thing(id)
  if one and one.kind == "e" then put_thing(id, false) end
end

local function purchase_of_order(order)
  local id = orders[order]
  if id == nil then
    id = call("HGET", KEYS[5], order)
    orders[order] = id
  end
  return id and purchase_of(id) or nil
end

local function buyer_of(name)
  local known = buyers[name]
  if not known then
    local text = call("HGET", KEYS[2], "@" .. name) or "0|0|"
    local reserved, bought, codes = match(text, "^(%d+)|(%d+)|(.*)$")
    known = {reserved = tonumber(reserved), bought = tonumber(bought), codes = {}}
    for code in gmatch(codes, "%w+") do known.codes[#known.codes + 1] = code end
    buyers[name] = known
  end
  return known
end

local function units(lines)
  local sum = 0
  for n = 1, #lines do sum = sum + lines[n][2] end
  return sum
end

local function total(lines)
  local sum = 0
  for n = 1, #lines do sum = sum + lines[n][2] * lines[n][3] end
  return sum
end

local function due_member(code) return format("%016.0f%s", code.fence, code.id) end

local function add_code(code)
  put_thing(code.id, code)
  local buyer = buyer_of(code.buyer)
  buyer.reserved = buyer.reserved + units(code.lines)
  buyer.codes[#buyer.codes + 1] = code.id
  buyers_dirty[code.buyer] = true
  for n = 1, #code.lines do change_level(code.lines[n][1], "reserved", code.lines[n][2]) end
  due_changes[due_member(code)] = code.till
end

-- What it reserved is available again until somebody says otherwise.
local function take_code(code)
  local buyer, left = buyer_of(code.buyer), {}
  buyer.reserved = buyer.reserved - units(code.lines)
  for n = 1, #buyer.codes do
    if buyer.codes[n] ~= code.id then left[#left + 1] = buyer.codes[n] end
  end
  buyer.codes = left
  buyers_dirty[code.buyer] = true
  for n = 1, #code.lines do change_level(code.lines[n][1], "reserved", -code.lines[n][2]) end
  due_changes[due_member(code)] = false
end

local function end_code(code, how)
  take_code(code)
  put_thing(code.id, {kind = "e", id = code.id, at = now, how = how})
  ended[#ended + 1] = code.id
end

local function reschedule(code, order, till)
  code.order, code.till = order, till
  things_dirty[code.id] = true
  due_changes[due_member(code)] = till
end

local function add_purchase(id, order, buyer_name, lines, fence)
  -- A code that ended in this very step and was taken back is remembered as ended, too.
  local how = thing(id) and thing(id).how
  put_thing(id, {kind = "p", id = id, fence = fence, at = now, order = order, lines = lines, back = {},
    buyer = buyer_name, how = how})
  orders[order] = id
  orders_dirty[order] = true
  open_changes[order] = fence
  local buyer = buyer_of(buyer_name)
  buyer.bought = buyer.bought + units(lines)
  buyers_dirty[buyer_name] = true
  for n = 1, #lines do change_level(lines[n][1], "sold", lines[n][2]) end
end

local function left_of(purchase, n)
  return purchase.lines[n][2] - (purchase.back[n] or 0)
end

local function units_left(purchase)
  local sum = 0
  for n = 1, #purchase.lines do sum = sum + left_of(purchase, n) end
  return sum
end

-- `away` = {{sku, count}…}, each SKU once.
local function refund(purchase, away, amount, restock, reason)
  emit({"kind", "purchase_refunded", "order", purchase.order, "lines", write_counts(away), "amount_minor",
    decimal(amount), "restock", restock and "1" or "0", "reason", reason})
  for n = 1, #purchase.lines do purchase.back[n] = purchase.back[n] or 0 end
  local buyer = buyer_of(purchase.buyer)
  for _, one in ipairs(away) do
    for n = 1, #purchase.lines do
      if purchase.lines[n][1] == one[1] then
        purchase.back[n] = purchase.back[n] + one[2]
        break
      end
    end
    buyer.bought = buyer.bought - one[2]
    change_level(one[1], "sold", -one[2])
    if not restock then change_level(one[1], "stock", -one[2]) end
  end
  buyers_dirty[purchase.buyer] = true
  things_dirty[purchase.id] = true
  if units_left(purchase) == 0 then open_changes[purchase.order] = false end
end

local function refund_all(purchase, restock, reason)
  local away, amount = {}, 0
  for n = 1, #purchase.lines do
    local left = left_of(purchase, n)
    if left > 0 then
      away[#away + 1] = {purchase.lines[n][1], left}
      amount = amount + left * purchase.lines[n][3]
    end
  end
  refund(purchase, away, amount, restock, reason)
end
