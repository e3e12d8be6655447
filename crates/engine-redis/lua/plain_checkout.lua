-- plain_checkout: the checkout that most buyers ask for: units of one SKU that are there, nothing due, within the limit;
-- and its plain refusals. Whatever is not plain is answered `plain`, with nothing written: the caller then asks checkout,
-- which has all the rules.
-- KEYS   1 codes  2 due  3 facts  4 idem
-- ARGV   1 now_ms (0: ask Redis)  2 how long the answer is kept, ms  3 what the fact tells of the caller's key,
--        "|scope|fingerprint" ("": the key is the server's own)  4 code  5 buyer  6 how long the code lives, ms
--        7 SKU  8 count  what the caller knows of the sale: 9 how its head ends, "|SKUs|version of the details|0|0"
--        10 when it ends  11 buyer_limit
-- REPLY  {0, fence, at, until, price}, and the fact tells just what was asked for | 4 sold_out, sold_out_for_now,
--        not_enough_stock, buyer_limit | 5 plain
-- EMITS  CheckedOut
-- COST   1 read (2 with TIME), 4 writes; of a refusal 2 or 3 reads
local call, match, format = redis.call, string.match, string.format
local clock, kept, key, code, name, length, sku, count, expected, sale_ends, limit = unpack(ARGV)
local buyer, shelf = "@" .. name, "sku:" .. sku
local values = call("HMGET", KEYS[1], "head", code, buyer, shelf)
local now
if clock == "0" then
  local time = call("TIME")
  now = time[1] * 1000 + math.floor(time[2] / 1000)
else
  now = tonumber(clock)
end
local epoch, offset, last_at, mark, known =
  match(values[1] or "", "^sale|(%d+)|(%d+)|(%d+)|open|0|(%d+)(|.*)$")
if known == expected and values[4] and not values[2] then
  -- The listing's time never runs backwards past its last fact.
  if now < tonumber(last_at) then now = tonumber(last_at) end
  local stock, reserved, sold, price = match(values[4], "^(%d+)|(%d+)|(%d+)|(%d+)$")
  local left, ends, next_due = stock - reserved - sold, now + length, tonumber(mark)
  local of_buyer, bought, codes = 0, "0", ""
  if values[3] then of_buyer, bought, codes = match(values[3], "^(%d+)|(%d+)|(.*)$") end
  local taken, plain = of_buyer + bought, now < tonumber(sale_ends) and price * count <= 1000000000000
  count = tonumber(count)
  if plain and (left < count or taken + count > tonumber(limit)) then
    -- Something due may make room.
    if (next_due > now or call("ZCOUNT", KEYS[2], "-inf", format("%d", now)) == 0) and call("EXISTS", KEYS[4]) == 0 then
      local detail = {25, "", "limit", limit, taken}
      if left < count then
        local why = left > 0 and 49 or reserved == "0" and 47 or 48
        detail = {why, "k" .. sku .. ":" .. why, ""}
      end
      return {4, detail, tonumber(epoch), tonumber(offset), now, 0, {}}
    end
  elseif plain and next_due > now and ends >= next_due then
    -- The marker stays where it is: this deadline is not the next one.
    offset = offset + 1
    local fence = epoch * 1099511627776 + offset
    -- Numbers become text once: that is what a script spends its time on.
    local now_text, ends_text, offset_text = format("%d", now), format("%d", ends), format("%d", offset)
    if not call("SET", KEYS[4], epoch .. "|" .. offset_text .. "|1|" .. now_text .. "|" .. kept, "PX", kept, "NX",
      "GET") then
      local fence_text, line = format("%d", fence), sku .. ":" .. count .. ":" .. price
      if codes ~= "" then codes = codes .. "," end
      call("HSET", KEYS[1],
        "head", "sale|" .. epoch .. "|" .. offset_text .. "|" .. now_text .. "|open|0|" .. mark .. known,
        shelf, stock .. "|" .. (reserved + count) .. "|" .. sold .. "|" .. price,
        buyer, (of_buyer + count) .. "|" .. bought .. "|" .. codes .. code,
        code, "c|" .. fence_text .. "|" .. now_text .. "|" .. ends_text .. "||" .. line .. "|" .. name)
      call("ZADD", KEYS[2], ends_text, string.rep("0", 16 - #fence_text) .. fence_text .. code)
      call("XADD", KEYS[3], epoch .. "-" .. offset_text, "step", now_text .. "|1" .. key, "kind", "checked_out",
        "checkout", code, "buyer", name, "lines", line, "until", ends_text)
      return {0, fence, now, ends, tonumber(price)}
    end
  end
end
return {5, {"plain"}, 0, 0, now, 0, {}}
