-- event/lib/plain_hold_compact: the plain hold of a large chart: neighbours that are free, a buyer who has nothing here yet.
-- Whatever is not plain goes on to the whole rules below, and nothing has been written by then.
-- COST   5 reads (6 with TIME), 6 writes (8 when a deadline is the first of its chunk or the marker moves), O(seats)
if picked and layout == "compact" and #ARGV[5] == 1 and status == "on_sale" and chart_version == ARGV[12] then
  -- Events that refuse single seats do not match, and are not plain.
  local plain_closes, length, most, price_list =
    match(values[2], "^%d*|(%d+)|%d+|(%d+)|%d*|%d+|(%d+)|0|([%d,]*)$")
  local hold, buyer, tiers, count = ARGV[6], ARGV[7], ARGV[13], #picked
  local free = plain_closes and now < tonumber(plain_closes) and #tiers == count and count <= tonumber(most)
    and not string.find(tiers, ".", 1, true)
  local total, words, writes = tonumber(seats_len), {}, {}
  local grips, blocks = 8 * total, 8 * (total + math.ceil(total / 4))
  if free then
    for n = 1, count do
      local at = 6 * n
      words[at - 5], words[at - 4], words[at - 3] = "GET", "u2", grips + 2 * picked[n]
      words[at - 2], words[at - 1], words[at] = "GET", "u1", blocks + picked[n]
      at = 4 * n
      writes[at - 3], writes[at - 2], writes[at - 1], writes[at] = "SET", "u2", grips + 2 * picked[n], 1
    end
    local bits = call("BITFIELD", KEYS[9], unpack(words))
    for n = 1, 2 * count do free = free and bits[n] == 0 end
  end
  local packed = pack_id(hold)
  local thing_field, buyer_field = bucket_of_id(hold), bucket_of_name(buyer)
  local found = free and call("HMGET", KEYS[4], thing_field, buyer_field)
  local named = struct.pack(">I2", #buyer) .. buyer
  -- Found does not mean known, but only who is not found is surely new.
  if found and not (found[1] and string.find(found[1], packed, 1, true))
    and not (found[2] and string.find(found[2], named, 1, true)) and not call("ZSCORE", KEYS[8], hold) then
    if ARGV[10] ~= "" then length = ARGV[10] end
    local ends = now + length
    local now_text, ends_text, offset_text = format("%.0f", now), format("%.0f", ends), format("%.0f", offset + 1)
    local second = math.floor(ends / 1000)
    local chunk = format("%.0f:%.0f", second, math.floor((offset + 1) / 64))
    local entries = call("HGET", KEYS[12], chunk)
    local known = ARGV[2] ~= "" and call("SET", KEYS[13], epoch_text .. "|" .. offset_text .. "|1|"
      .. format("%.0f", now + ARGV[4]),
      "PX", ARGV[4], "NX", "GET")
    if not known then
      offset = offset + 1
      local fence = epoch * BOUND.FENCE_EPOCH + offset
      local prices, parts, record, locks = {}, {}, {}, {values[3] or ""}
      for price in gmatch(price_list, "%d+") do prices[#prices + 1] = price end
      for n = 1, count do
        local price = prices[string.byte(tiers, n) - 47] or "0"
        parts[n] = picked[n] .. ":" .. price
        record[n] = struct.pack(">I3I6", picked[n], tonumber(price))
        locks[n + 1] = string.char(picked[n] % 32) .. packed
      end
      local lines = table.concat(parts, ",")
      record = "h" .. struct.pack(">I7I6I3I3I1I1", fence, now, ends - now, tonumber(length), 0, count)
        .. table.concat(record) .. "\0" .. buyer
      local step = now_text .. "|1"
      if ARGV[5] == "1" then step = step .. "|" .. ARGV[2] .. ARGV[3] end
      local fact = {"step", step, "kind", "hold_placed", "hold", hold, "buyer", buyer, "seats", lines, "until", ends_text}
      -- Nothing may fail once the seat is held: what was not read is written first, and taken back if it fails.
      local added = not entries and redis.pcall("ZADD", KEYS[7], format("%.0f", second * 1000), chunk)
      local told = type(added) == "table" and added
        or redis.pcall("XADD", KEYS[10], epoch_text .. "-" .. offset_text, unpack(fact))
      if type(told) == "table" then
        if ARGV[2] ~= "" then call("DEL", KEYS[13]) end
        if added and told ~= added then call("ZREM", KEYS[7], chunk) end
        return told
      end
      local deadline = tonumber(mark)
      if ends < deadline or deadline <= now then
        mark = ends_text
        call("SET", KEYS[11], ends_text, "PX", length)
      end
      call("BITFIELD", KEYS[9], unpack(writes))
      call("HSET", KEYS[2], "head", "compact|" .. epoch_text .. "|" .. offset_text .. "|" .. now_text .. "|on_sale|"
        .. queued .. "|" .. mark .. "|" .. seats_len .. "|" .. details_version .. "|" .. chart_version .. "|" .. buckets,
        lock_field, table.concat(locks))
      call("HSET", KEYS[4], thing_field,
        (found[1] or "") .. struct.pack(">I2", 8) .. packed .. struct.pack(">I2", #record) .. record, buyer_field,
        (found[2] or "") .. named .. struct.pack(">I2I3I3I1I2", 17, count, 0, 0, 1) .. packed)
      call("HSET", KEYS[12], chunk, (entries or "") .. struct.pack(">I2I7", ends % 1000, fence) .. "h" .. packed)
      return {0, {}, epoch, offset, now, 0, {fact}}
    end
  end
end
