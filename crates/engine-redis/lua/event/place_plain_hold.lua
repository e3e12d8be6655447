-- place_plain_hold: the hold that most buyers ask for: seats of a small chart that are free, nothing due, within the
-- limit; and its plain refusal: others hold some of them, and nobody waits in a queue. Whatever is not plain is answered
-- `plain`, with nothing written: the caller then asks place_hold, which has all the rules.
-- KEYS   1 locks  2 due  3 facts  4 idem
-- ARGV   1 now_ms (0: ask Redis)  2 how long the answer is kept, ms  3 what the fact tells of the caller's key,
--        "|" and 32 bytes of scope and fingerprint ("": the key is the server's own)  4 hold  5 buyer, without quotes and backslashes
--        6 the seats with their prices "12:4200,13:4200"  7 hold_ms  what the caller knows of the event: 8 how its head
--        ends, "|seats|version of the details|of the chart|0"  9 when its sale closes  10 extensions_max
--        11 buyer_limit  12… the seats, on this chart, not more than the limit; no event that refuses single seats
-- REPLY  {0, fence, at, until}, and the fact tells just what was asked for | 4 seat_held | 5 plain
-- EMITS  HoldPlaced
-- COST   1 read (2 with TIME), 4 writes, O(seats); of the refusal 2 reads (3 with TIME)
local call, try, match, format = redis.call, redis.pcall, string.match, string.format
local clock, kept, key, hold, name, lines, length, expected, closes, extensions_max, limit, seat = unpack(ARGV)
local buyer, count, values = "@" .. name, #ARGV - 11, nil
if count == 1 then
  values = call("HMGET", KEYS[1], "head", hold, buyer, seat)
else
  values = call("HMGET", KEYS[1], "head", hold, buyer, unpack(ARGV, 12))
end
local now
if clock == "0" then
  local time = call("TIME")
  now = time[1] * 1000 + math.floor(time[2] / 1000)
else
  now = tonumber(clock)
end
local epoch, offset, last_at, HEAD.FIRST_2, known =
  match(values[1] or "", "^hash|(%d+)|(%d+)|(%d+)|on_sale|(%d+)|(%d+)(|.*)$")
if epoch then
  last_at = tonumber(last_at)
  -- The listing's time never runs backwards past its last fact.
  if now < last_at then now = last_at end
end
local plain = known == expected and now < tonumber(closes) and not values[2]
local held, sold, ordered, soonest, holds, places
if plain and values[3] then
  held, sold, ordered, soonest, holds, places = match(values[3], "^(%d+)|(%d+)|(%d)|(%d+)|([^|]*)|(.*)$")
  -- One of the buyer's holds may be due.
  plain = holds == "" or now < tonumber(soonest)
end
local free = plain
for n = 4, count + 3 do free = free and not values[n] end

if plain and not free and queued == "0" then
  local in_the_way = {}
  for n = 1, count do
    if values[n + 3] then
      local holder, ends = match(values[n + 3], '^{"state":"held","blocked":0,"hold":"%w+","user_id":"(.-)",'
        .. '"fencing_token":%d+,"acquired_at":%d+,"expires_at":(%d+)')
      if not holder or holder == name or now >= tonumber(ends) then
        plain = false
        break
      end
      in_the_way[#in_the_way + 1] = "s" .. ARGV[n + 11] .. ":" .. "NO.seat_held"
    end
  end
  if plain and call("EXISTS", KEYS[4]) == 0 then
    return {4, {NO.seat_held, table.concat(in_the_way, ","), ""}, tonumber(epoch), tonumber(offset), now, 0, {}}
  end
end

local ends, next_due = now + length, free and tonumber(mark)
-- The marker stays where it is: this deadline is not the next one. Who has nothing yet is within the limit.
if free and ends >= next_due and next_due > now and (not held or held + sold + count <= tonumber(limit)) then
  offset = offset + 1
  local fence = epoch * BOUND.FENCE_EPOCH + offset
  -- Numbers become text once: that is what a script spends its time on.
  local now_text, ends_text, offset_text = format("%d", now), format("%d", ends), format("%d", offset)
  if not call("SET", KEYS[4], epoch .. "|" .. offset_text .. "|1|" .. format("%d", now + kept), "PX", kept, "NX",
    "GET") then
    local fence_text = format("%d", fence)
    local lock = '{"state":"held","blocked":0,"hold":"' .. hold .. '","user_id":"' .. name .. '","fencing_token":'
      .. fence_text .. ',"acquired_at":' .. now_text .. ',"expires_at":' .. ends_text
      .. ',"extension_count":0,"max_extensions":' .. extensions_max .. "}"
    local head = "hash|" .. epoch .. "|" .. offset_text .. "|" .. now_text .. "|on_sale|" .. HEAD.LINE_2
      .. known
    local of_hold = "h|" .. fence_text .. "|" .. now_text .. "|" .. ends_text .. "|" .. length .. "|0|0|" .. lines
      .. "||" .. name
    local of_buyer
    if held then
      if holds == "" then
        soonest, holds = ends_text, hold
      else
        if ends < tonumber(soonest) then soonest = ends_text end
        holds = holds .. "," .. hold
      end
      of_buyer = (held + count) .. "|" .. sold .. "|" .. ordered .. "|" .. soonest .. "|" .. holds .. "|" .. places
    elseif count == 1 then
      of_buyer = "1|0|0|" .. ends_text .. "|" .. hold .. "|"
    else
      of_buyer = count .. "|0|0|" .. ends_text .. "|" .. hold .. "|"
    end
    -- Nothing may fail once the seat is held: what was not read is written first, and taken back if it fails.
    local member = string.rep("0", 16 - #fence_text) .. fence_text .. "h" .. hold
    local added = try("ZADD", KEYS[2], ends_text, member)
    local told = type(added) == "table" and added or try("XADD", KEYS[3], epoch .. "-" .. offset_text, "step",
      now_text .. "|1" .. key, "kind", "hold_placed", "hold", hold, "buyer", name, "seats", lines, "until", ends_text)
    if type(told) == "table" then
      call("DEL", KEYS[4])
      if told ~= added then call("ZREM", KEYS[2], member) end
      return told
    end
    if count == 1 then
      call("HSET", KEYS[1], "head", head, seat, lock, hold, of_hold, buyer, of_buyer)
    else
      local set = {"head", head, hold, of_hold, buyer, of_buyer}
      for n = 1, count do set[2 * n + 5], set[2 * n + 6] = ARGV[n + 11], lock end
      call("HSET", KEYS[1], unpack(set))
    end
    return {0, fence, now, ends}
  end
end
return {5, {"plain"}, 0, 0, now, 0, {}}
