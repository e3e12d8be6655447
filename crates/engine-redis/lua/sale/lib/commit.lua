-- sale/lib/commit: everything that was decided is written here, the facts first. Nothing may fail behind them: a key that
-- is written but may not have been read is asked for its type before.
local function commit_due()
  local set, gone, first = {}, {}, nil
  for member, till in pairs(due_changes) do
    if till then
      set[#set + 1] = decimal(till)
      set[#set + 1] = member
      if not first or till < first then first = till end
    else
      gone[#gone + 1] = member
    end
  end
  if #set > 0 then call("ZADD", KEYS[7], unpack(set)) end
  if #gone > 0 then call("ZREM", KEYS[7], unpack(gone)) end
  return first
end

-- When the sale's own hours change it next, or the first code is over.
local function next_instant()
  local first = tonumber(call("ZRANGE", KEYS[7], 0, 0, "WITHSCORES")[2])
  local turn = status == "scheduled" and starts or status == "open" and ends or first
  if first and turn then return math.min(first, turn) end
  return first or turn
end

-- The marker ends at the next instant: a hint for sweepers. Before it nothing is due, so that it is never late.
local function commit_marker(first)
  local stale = mark <= now
  if stale then first = next_instant() end
  if first and (first < mark or stale) and first ~= mark then
    call("SET", KEYS[11], decimal(first), "PX", decimal(math.max(first - now, 1)))
    mark = first
    return true
  end
end

local function head_at(at)
  return format("sale|%.0f|%.0f|%.0f|%s|%d|%.0f|%d|%s|0|0", epoch, offset, at, status, limit, mark, skus_len,
    details_version)
end

local function commit_things()
  local set, gone = {}, {}
  local function put(name, text)
    if text then
      set[#set + 1] = name
      set[#set + 1] = text
    else
      gone[#gone + 1] = name
    end
  end
  for sku in pairs(levels_dirty) do
    local of = levels[sku]
    put("sku:" .. sku, format("%d|%d|%d|%.0f", of.stock, of.reserved, of.sold, of.price))
  end
  for id in pairs(things_dirty) do put(id, things[id] and write_thing(things[id])) end
  for name in pairs(buyers_dirty) do
    local buyer = buyers[name]
    local idle = buyer.reserved == 0 and buyer.bought == 0
    put("@" .. name, not idle and format("%d|%d|%s", buyer.reserved, buyer.bought, table.concat(buyer.codes, ",")))
  end
  put("head", head_at(now))
  call("HSET", KEYS[2], unpack(set))
  for from = 1, #gone, CHUNK do call("HDEL", KEYS[2], unpack(gone, from, math.min(from + CHUNK - 1, #gone))) end
end

local function commit_orders()
  for order in pairs(orders_dirty) do call("HSET", KEYS[5], order, orders[order]) end
  for order, fence in pairs(open_changes) do
    if fence then
      call("ZADD", KEYS[6], decimal(fence), order)
    else
      call("ZREM", KEYS[6], order)
    end
  end
end

local function commit(is_yes)
  if #facts == 0 then
    -- A marker that is over makes every checkout a long one, also where nothing is due any more.
    if mark <= now and commit_marker() then call("HSET", KEYS[2], "head", head_at(last_at)) end
    return
  end
  call("ZCARD", KEYS[7])
  if next(orders_dirty) or next(BOOK.dirty) then call("HLEN", KEYS[5]) end
  if next(open_changes) then call("ZCARD", KEYS[6]) end
  if #ended > 0 then call("ZCARD", KEYS[8]) end
  if next(meta_changes) then call("HLEN", KEYS[1]) end
  log_facts(is_yes)
  LATER.write()
  forget_ended(ended)
  commit_orders()
  BOOK.commit()
  commit_marker(commit_due())
  commit_things()
  local set = {}
  for name, value in pairs(meta_changes) do
    set[#set + 1] = name
    set[#set + 1] = value
  end
  if #set > 0 then call("HSET", KEYS[1], unpack(set)) end
end
