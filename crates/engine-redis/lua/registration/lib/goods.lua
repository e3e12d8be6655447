-- registration/lib/goods: what an order needs of a registration: the place it takes, more time for it, its sale, and a place
-- taken back.
GOODS.kind = "entry"

-- Lapses what its buyer's own confirmation would.
function GOODS.expire(id, name)
  promoted = 0
  follow_schedule()
  expire_touched(name, id)
end

-- Why nothing can be bought any more.
function GOODS.cancelled()
  return status == "cancelled" and NO.registration_cancelled or nil
end

function GOODS.own(id, name)
  local entry, why = own_entry(id, name)
  if not entry then return nil, why end
  if entry.kind == "w" then return nil, NO.not_offered end
  if entry.kind == "c" then return nil, NO.entry_confirmed, entry.order ~= "" and entry.order or nil end
  return {lines = decimal(entry.price), areas = "", units = 1, total = entry.price,
    placed = GOODS.first_till(id, name, entry.till)}
end

function GOODS.knows(order) return call("HEXISTS", KEYS[5], order) == 1 end

function GOODS.till(id)
  local entry = living(id)
  return entry and entry.kind == "o" and entry.till or nil
end

-- A place is never kept shorter for it.
function GOODS.pin(id, till)
  local entry = living(id)
  step_to(entry, "o", {till = math.max(entry.till, till)})
end

local function bought(order, came)
  BOOK.set("e:" .. order.goods, order.id)
  confirm_order(order.id, came)
end

function GOODS.confirm(order, came)
  emit({"kind", "registration_confirmed", "entry", order.goods, "order", order.id})
  step_to(living(order.goods), "c", {order = order.id, at = now})
  promoted = 0
  promote()
  bought(order, came)
end

-- Late money: the buyer has no other entry, there is room, and nobody waits for it.
function GOODS.take_back(order, came)
  promoted = 0
  follow_schedule()
  expire_touched(order.buyer, nil, function() return free() == 0 end)
  local runs = status == "open" or status == "closed"
  local is_new = not entry_of_buyer(order.buyer) and not living(order.goods)
  if not runs or not is_new or free() == 0 or waiting > 0 then return false end
  local fence = emit({"kind", "registration_reserved", "entry", order.goods, "buyer", order.buyer, "price_minor",
    order.lines, "until", decimal(now)})
  emit({"kind", "registration_confirmed", "entry", order.goods, "order", order.id})
  insert({kind = "c", id = order.goods, fence = fence, buyer = order.buyer, order = order.id,
    price = tonumber(order.lines), at = now})
  bought(order, came)
  return true
end
