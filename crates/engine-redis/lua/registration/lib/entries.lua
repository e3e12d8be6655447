-- registration/lib/entries: the registration is there; who has which place, and what each fact changes. Nothing here is hot, so
-- entries are written at once; facts, which come last, and the head wait for `commit`. `rules` is
-- opens|closes|starts|price|checkout_ms. Under an entry's id:
--   w|fence|buyer                    waits
--   o|fence|until|price|buyer        is kept for its buyer
--   c|fence|order|price|at|buyer     confirmed, for an order if it was paid, and when
--   e|at|how                         over
if not layout then
  return {4, {NO.listing_unknown, "", ""}, epoch, offset, now, 0, {}}
end
local facts, promoted, open_changes = {}, 0, {}
waiting, capacity, confirmed, offered = tonumber(waiting), tonumber(capacity), tonumber(confirmed), tonumber(offered)
local opens, closes, starts, price, checkout_ms = match(values[2], "^(%d+)|(%d+)|(%d+)|(%d+)|(%d+)$")
opens, closes, starts = tonumber(opens), tonumber(closes), tonumber(starts)
price, checkout_ms = tonumber(price), tonumber(checkout_ms)

local function decimal(number) return format("%.0f", number) end

local function emit(fact)
  offset = offset + 1
  facts[#facts + 1] = fact
  return epoch * BOUND.FENCE_EPOCH + offset
end

-- Nothing may fail once something is written: whatever a verb may come to write is asked for its type before.
local are_types_known = false
local function check_types()
  if are_types_known then return end
  are_types_known = true
  call("HLEN", KEYS[1])
  call("HLEN", KEYS[5])
  call("ZCARD", KEYS[3])
  call("ZCARD", KEYS[4])
  call("ZCARD", KEYS[6])
  call("ZCARD", KEYS[7])
  call("ZCARD", KEYS[8])
  local next_id = format("%.0f-%.0f", epoch, offset - #facts + 1)
  if #call("XRANGE", KEYS[10], next_id, "+", "COUNT", 1) > 0 then error("the stream goes on behind its listing's head") end
end

local function write(...)
  check_types()
  return call(...)
end

local function taken() return confirmed + offered end
local function free() return capacity - taken() end

local function entry_of_id(id)
  local text = call("HGET", KEYS[2], id)
  if not text then return nil end
  local kind = string.sub(text, 1, 1)
  if kind == "w" then
    local fence, buyer = match(text, "^w|(%d+)|(.*)$")
    return {kind = kind, id = id, fence = tonumber(fence), buyer = buyer}
  elseif kind == "o" then
    local fence, till, cost, buyer = match(text, "^o|(%d+)|(%d+)|(%d+)|(.*)$")
    return {kind = kind, id = id, fence = tonumber(fence), till = tonumber(till), price = tonumber(cost), buyer = buyer}
  elseif kind == "c" then
    local fence, order, cost, at, buyer = match(text, "^c|(%d+)|(%w*)|(%d*)|(%d*)|(.*)$")
    return {kind = kind, id = id, fence = tonumber(fence), order = order, price = tonumber(cost) or 0, at = tonumber(at),
      buyer = buyer}
  end
  local at, how = match(text, "^e|(%d+)|(%d)$")
  return {kind = kind, id = id, at = tonumber(at), how = tonumber(how)}
end

local function living(id)
  local entry = entry_of_id(id)
  return entry and entry.kind ~= "e" and entry or nil
end

local function ended_as(id)
  local entry = entry_of_id(id)
  return entry and entry.kind == "e" and now - entry.at < BOUND.ENDED_MS and entry.how or nil
end

local function entry_of_buyer(name)
  local id = call("HGET", KEYS[2], "@" .. name)
  return id and living(id) or nil
end

-- Puts an entry where its step belongs.
local function count_in(entry)
  local fence = decimal(entry.fence)
  if entry.kind == "w" then
    waiting = waiting + 1
    write("ZADD", KEYS[3], fence, entry.id)
    write("HSET", KEYS[2], entry.id, "w|" .. fence .. "|" .. entry.buyer)
  elseif entry.kind == "o" then
    offered = offered + 1
    write("ZADD", KEYS[7], decimal(entry.till), format("%016.0f%s", entry.fence, entry.id))
    write("HSET", KEYS[2], entry.id,
      "o|" .. fence .. "|" .. decimal(entry.till) .. "|" .. decimal(entry.price) .. "|" .. entry.buyer)
  else
    confirmed = confirmed + 1
    local paid = "||"
    if entry.order ~= "" then
      write("HSET", KEYS[5], entry.order, entry.id)
      paid = entry.order .. "|" .. decimal(entry.price) .. "|" .. decimal(entry.at)
    end
    write("HSET", KEYS[2], entry.id, "c|" .. fence .. "|" .. paid .. "|" .. entry.buyer)
  end
end

-- Takes an entry from where its step had put it.
local function count_out(entry)
  if entry.kind == "w" then
    waiting = waiting - 1
    write("ZREM", KEYS[3], entry.id)
  elseif entry.kind == "o" then
    offered = offered - 1
    write("ZREM", KEYS[7], format("%016.0f%s", entry.fence, entry.id))
  else
    confirmed = confirmed - 1
    if entry.order ~= "" then write("HDEL", KEYS[5], entry.order) end
  end
end

local function insert(entry)
  write("HSET", KEYS[2], "@" .. entry.buyer, entry.id)
  write("ZADD", KEYS[4], decimal(entry.fence), entry.id)
  count_in(entry)
end

local function step_to(entry, kind, changes)
  count_out(entry)
  entry.kind = kind
  for name, value in pairs(changes) do entry[name] = value end
  count_in(entry)
end

-- Remembered for an hour, and the oldest go first in a flood.
local function forget_ended()
  local old = call("ZRANGEBYSCORE", KEYS[8], "-inf", decimal((now - BOUND.ENDED_MS + 1) * BOUND.END_STEP - 1))
  local over = call("ZCARD", KEYS[8]) - #old + 1 - BOUND.ENDED_MAX
  if over > 0 then
    local flood = call("ZRANGE", KEYS[8], #old, #old + over - 1)
    for n = 1, #flood do old[#old + 1] = flood[n] end
  end
  for n = 1, #old do
    write("ZREM", KEYS[8], old[n])
    local entry = entry_of_id(old[n])
    if entry and entry.kind == "e" then write("HDEL", KEYS[2], old[n]) end
  end
end
