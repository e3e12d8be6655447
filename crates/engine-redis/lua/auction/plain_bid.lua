-- plain_bid: the bid that most people place: it is accepted, is too low, or does not raise the bidder's own. Whatever else
-- it may come to, a purchase or a close, is answered `plain`, with nothing written: the caller then asks place_bid,
-- which has all the rules. What it needs of the terms is sent along; the version in the head tells whether it is right.
-- KEYS   1 state  2 facts  3 idem  4 marker
-- ARGV   1 now_ms (0: ask Redis)  2 how long the answer is kept, ms  3 what the fact tells of the caller's key, "|" and 32
--        bytes of scope and fingerprint ("": the key is the server's own)  4 bidder  5 max  6 version of the details
--        7 starts  8 start price  9 reserve ("": none)  10 buy now ("": none)  11 its policy  12 window of soft close ("": none)
--        13 the rest of it, "mode|latest end|extensions"  then the ladder: from, step, …
-- REPLY  {0, fence, at, bid, leading, price, min_next, reserve met, ends_at} | 4 leader_not_raising, bid_too_low | 5 plain
-- EMITS  BidPlaced
-- COST   1 read (2 with TIME), 3 writes, 4 if the end moves; of a refusal 2 reads (3 with TIME)
local call, match, format = redis.call, string.match, string.format
local clock, kept, key, name, max_text, version, starts, start, reserve, buy_now, policy, window, soft = unpack(ARGV, 1, 13)
local values = call("HMGET", KEYS[1], "head", "lead", "!" .. name, "numbers")
local now
if clock == "0" then
  local time = call("TIME")
  now = time[1] * 1000 + math.floor(time[2] / 1000)
else
  now = tonumber(clock)
end
local epoch, offset, last_at, HEAD.NAMES =
  match(values[1] or "", "^auction|(%d+)|(%d+)|(%d+)|live|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)$")
if details_version ~= version or values[3] then return {5, {"plain"}, 0, 0, now, 0, {}} end
-- The first bid of an epoch is given its number by place_bid (auction/lib/rules).
local of_epoch, skipped = match(values[4] or "", "^%d+|(%d+)|(%d+)|")
if of_epoch ~= epoch then return {5, {"plain"}, 0, 0, now, 0, {}} end
local ends_then, ends_ms, max, old_max, leader = ends, tonumber(ends), tonumber(max_text), nil, nil
-- The listing's time never runs backwards past its last fact.
if now < tonumber(last_at) then now = tonumber(last_at) end
if now >= ends_ms or now < tonumber(starts) or tonumber(bids_len) >= BOUND.BIDS_MAX then
  return {5, {"plain"}, 0, 0, now, 0, {}}
end
if values[2] then
  old_max, leader = match(values[2], "^(%d+)|(.*)$")
  old_max = tonumber(old_max)
end
reserve = tonumber(reserve)
if buy_now ~= "" and max >= tonumber(buy_now) then
  local gone = leader
  if policy == "a" then gone = nil end
  if policy == "r" and reserve then gone = leader and old_max >= reserve end
  if not gone then return {5, {"plain"}, 0, 0, now, 0, {}} end
end

-- The amount and the step above it.
local top = #ARGV - 1
local function beyond(amount)
  local n = top
  while n > 14 and tonumber(ARGV[n]) > amount do n = n - 2 end
  return amount + ARGV[n + 1]
end

local own, old_price = leader == name, tonumber(price)
local least = leader and beyond(old_price) or tonumber(start)
if own and max <= old_max or max < least then
  if call("EXISTS", KEYS[3]) == 0 then
    local detail = {NO.leader_not_raising, "", ""}
    if not own or max > old_max then detail = {NO.bid_too_low, "", "min_next", format("%d", least)} end
    return {4, detail, tonumber(epoch), tonumber(offset), now, 0, {}}
  end
  return {5, {"plain"}, 0, 0, now, 0, {}}
end
local leads, new_price = true, old_price
if not leader then
  new_price = tonumber(start)
elseif not own then
  leads = max > old_max
  new_price = leads and math.min(max, beyond(old_max)) or math.min(old_max, beyond(max))
  if new_price < old_price then new_price = old_price end
end
local is_met = not reserve or (leads and max or old_max) >= reserve
if is_met and reserve and new_price < reserve then new_price = reserve end
-- A bid in the last seconds moves the end; a leader's higher maximum does not.
if not own and window ~= "" and ends_ms - now <= tonumber(window) then
  local mode, latest, lengths = match(soft, "^(%l)|(%d+)|(.*)$")
  local nth, length = 0, nil
  for text in string.gmatch(lengths, "%d+") do
    length, nth = text, nth + 1
    if nth > tonumber(extensions) then break end
  end
  local moved = math.min(tonumber(latest), (mode == "r" and now or ends_ms) + length)
  if moved > ends_ms then
    ends_ms, ends, extensions = moved, format("%d", moved), format("%d", extensions + 1)
  end
end

-- Numbers become text once: that is what a script spends its time on.
local now_text, offset_text = format("%d", now), format("%d", offset + 1)
local bid = bids_len + 1 + skipped
local bid_text = format("%d", bid)
if call("SET", KEYS[3], epoch .. "|" .. offset_text .. "|1|" .. format("%d", now + kept), "PX", kept, "NX", "GET") then
  return {5, {"plain"}, 0, 0, now, 0, {}}
end
local next_least = beyond(new_price)
bids_len, price = format("%d", bids_len + 1), format("%d", new_price)
if leads then lead_bid = bid_text end
local head = "auction|" .. epoch .. "|" .. offset_text .. "|" .. now_text .. "|live|" .. HEAD.LINE
local record = max_text .. "|" .. now_text .. "||" .. name
-- Nothing may fail once the price has moved: the stream, which was not read, is written first.
local told = redis.pcall("XADD", KEYS[2], epoch .. "-" .. offset_text, "step", now_text .. "|1" .. key, "kind", "bid_placed",
  "bid", bid_text, "bidder", name, "max_minor", max_text, "after", (leads and "1|" or "0|") .. price .. "|"
  .. format("%d", next_least) .. (is_met and "|1|" or "|0|") .. ends)
if type(told) == "table" then
  call("DEL", KEYS[3])
  return told
end
if leads then
  call("HSET", KEYS[1], "head", head, "lead", max_text .. "|" .. name, bid_text, record)
else
  call("HSET", KEYS[1], "head", head, bid_text, record)
end
if ends ~= ends_then then call("SET", KEYS[4], ends, "PX", format("%d", ends_ms - now)) end
return {0, epoch * BOUND.FENCE_EPOCH + offset + 1, now, bid, leads and 1 or 0, new_price, next_least,
  is_met and 1 or 0, ends_ms}
