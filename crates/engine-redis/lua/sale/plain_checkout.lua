-- plain_checkout: the checkout that most buyers ask for: units of one SKU that are there, nothing due, within the limit;
-- and its plain refusals. Whatever is not plain is answered `plain`, with nothing written: the caller then asks checkout,
-- which has all the rules.
-- KEYS   1 codes  2 due  3 facts  4 idem
-- ARGV   1 now_ms (0: ask Redis)  2 how long the answer is kept, ms  3 what the fact tells of the caller's key,
--        "|" and 32 bytes of scope and fingerprint ("": the key is the server's own)  4 code  5 buyer  6 how long the code lives, ms
--        7 SKU  8 count  9 how the head ends in what the caller knows of the sale, "|SKUs|version of the details|0|0"
-- REPLY  {0, fence, at, until, price}, and the fact tells just what was asked for | 4 sold_out, sold_out_for_now,
--        not_enough_stock, buyer_limit | 5 plain
-- EMITS  CheckedOut
-- COST   1 read (2 with TIME), 4 writes; of a refusal 2 reads (3 with TIME)
local call, try, match, format = redis.call, redis.pcall, string.match, string.format
local clock, kept, key, code, name, length, sku, count, expected = unpack(ARGV)
local buyer, shelf = "@" .. name, "sku:" .. sku
local values = call("HMGET", KEYS[1], "head", code, buyer, shelf)
local now
if clock == "0" then
  local time = call("TIME")
  now = time[1] * 1000 + math.floor(time[2] / 1000)
else
  now = tonumber(clock)
end
local epoch, offset, last_at, HEAD.FIRST_2, known =
  match(values[1] or "", "^sale|(%d+)|(%d+)|(%d+)|open|(%d+)|(%d+)(|.*)$")
if known ~= expected or values[2] or not values[4] then return {5, {"plain"}, 0, 0, now, 0, {}} end
-- The listing's time never runs backwards past its last fact.
if now < tonumber(last_at) then now = tonumber(last_at) end
local stock, reserved, sold, price = match(values[4], "^(%d+)|(%d+)|(%d+)|(%d+)$")
local next_due, taken, of_buyer, bought, codes = tonumber(mark), 0, nil, nil, nil
-- Before the marker nothing is due, and the sale is not over.
if now >= next_due or price * count > BOUND.MINOR_MAX then return {5, {"plain"}, 0, 0, now, 0, {}} end
if values[3] then
  of_buyer, bought, codes = match(values[3], "^(%d+)|(%d+)|(.*)$")
  taken = of_buyer + bought
end

local left, ends = stock - reserved - sold, now + length
if left < tonumber(count) or taken + count > tonumber(buyer_limit) then
  if call("EXISTS", KEYS[4]) == 0 then
    local detail = {NO.buyer_limit, "", "limit", buyer_limit, taken}
    if left < tonumber(count) then
      local why = left > 0 and NO.not_enough_stock or reserved == "0" and NO.sold_out or NO.sold_out_for_now
      detail = {why, "k" .. sku .. ":" .. why, ""}
    end
    return {4, detail, tonumber(epoch), tonumber(offset), now, 0, {}}
  end
elseif ends >= next_due then
  -- The marker stays where it is: this deadline is not the next one. Numbers become text once: that is what a script
  -- spends its time on.
  local now_text, ends_text, offset_text = format("%d", now), format("%d", ends), format("%d", offset + 1)
  if not call("SET", KEYS[4], epoch .. "|" .. offset_text .. "|1|" .. format("%d", now + kept), "PX", kept, "NX", "GET") then
    local fence = epoch * BOUND.FENCE_EPOCH + offset + 1
    local fence_text, line, of_both = format("%016d", fence), sku .. ":" .. count .. ":" .. price, nil
    if of_buyer then
      if codes ~= "" then codes = codes .. "," end
      of_both = format("%d", of_buyer + count) .. "|" .. bought .. "|" .. codes .. code
    else
      of_both = count .. "|0|" .. code
    end
    -- Nothing may fail once units are reserved: what was not read is written first, and taken back if it fails.
    local added = try("ZADD", KEYS[2], ends_text, fence_text .. code)
    local told = type(added) == "table" and added or try("XADD", KEYS[3], epoch .. "-" .. offset_text, "step",
      now_text .. "|1" .. key, "kind", "checked_out", "checkout", code, "buyer", name, "lines", line, "until", ends_text)
    if type(told) == "table" then
      call("DEL", KEYS[4])
      if told ~= added then call("ZREM", KEYS[2], fence_text .. code) end
      return told
    end
    call("HSET", KEYS[1],
      "head", "sale|" .. epoch .. "|" .. offset_text .. "|" .. now_text .. "|open|" .. HEAD.LINE_2 .. known,
      shelf, stock .. "|" .. format("%d", reserved + count) .. "|" .. sold .. "|" .. price,
      buyer, of_both,
      code, "c|" .. fence_text .. "|" .. now_text .. "|" .. ends_text .. "||" .. line .. "|" .. name)
    return {0, fence, now, ends, tonumber(price)}
  end
end
return {5, {"plain"}, 0, 0, now, 0, {}}
