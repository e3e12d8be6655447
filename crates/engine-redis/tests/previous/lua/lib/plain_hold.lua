-- lib/plain_hold: the hold that most buyers ask for: seats of a small chart that are free, nothing due, within the limit;
-- and its plain refusal: others hold some of them, and nobody waits in a queue.
-- Whatever is not plain goes on to the whole rules below, and nothing has been written by then.
-- COST   1 read (2 with TIME), 4 writes (5 when the marker moves), O(seats); of the refusal 2 reads (3 with TIME)
if picked and layout == "hash" and status == "on_sale" and chart_version == ARGV[12] then
  -- Events that refuse single seats do not match, and are not plain.
  local plain_closes, length, most_extensions, most, price_list =
    match(values[2], "^%d*|(%d+)|%d+|(%d+)|%d*|(%d+)|(%d+)|0|([%d,]*)$")
  local hold, buyer, tiers, count = ARGV[6], ARGV[7], ARGV[13], #picked
  -- The caller knows the chart's tiers; a seat that is unknown or off the chart has none.
  local plain = plain_closes and now < tonumber(plain_closes) and not values[count + 3] and #tiers == count
    and not string.find(tiers, ".", 1, true)
  local free = plain
  for n = 3, count + 2 do free = free and not values[n] end
  local held, sold, ordered, soonest, holds, places = "0", "0", "0", "0", "", ""
  if plain and values[count + 4] then
    held, sold, ordered, soonest, holds, places =
      match(values[count + 4], "^(%d+)|(%d+)|(%d)|(%d+)|([^|]*)|(.*)$")
    -- One of the buyer's holds may be due.
    plain = holds == "" or now < tonumber(soonest)
    free = free and plain
  end
  if plain and not free and queued == "0" then
    local name, in_the_way = buyer, {}
    if string.find(name, '["\\]') then name = string.gsub(name, '["\\]', "\\%0") end
    for n = 1, count do
      if values[n + 2] then
        local holder, ends = match(values[n + 2], '^{"state":"held","blocked":0,"hold":"%w+","user_id":"(.-)",'
          .. '"fencing_token":%d+,"acquired_at":%d+,"expires_at":(%d+)')
        if not holder or holder == name or now >= tonumber(ends) then
          plain = false
          break
        end
        in_the_way[#in_the_way + 1] = "s" .. picked[n] .. ":22"
      end
    end
    if plain and (ARGV[2] == "" or call("EXISTS", KEYS[13]) == 0) then
      return {4, {22, table.concat(in_the_way, ","), ""}, epoch, offset, now, 0, {}}
    end
  end
  if free and held + sold + count <= tonumber(most) then
    if ARGV[10] ~= "" then length = ARGV[10] end
    local ends = now + length
    -- Numbers become text once: that is what a script spends its time on.
    local now_text, ends_text, offset_text = format("%.0f", now), format("%.0f", ends), format("%.0f", offset + 1)
    local known = ARGV[2] ~= "" and call("SET", KEYS[13], ARGV[3] .. "|" .. epoch_text .. "|" .. offset_text .. "|1|"
      .. format("%.0f", now + ARGV[4]), "PX", ARGV[4], "NX", "GET")
    if not known then
      offset = offset + 1
      local fence = format("%.0f", epoch * 1099511627776 + offset)
      local name = buyer
      if string.find(name, '["\\]') then name = string.gsub(name, '["\\]', "\\%0") end
      local lock = '{"state":"held","blocked":0,"hold":"' .. hold .. '","user_id":"' .. name .. '","fencing_token":'
        .. fence .. ',"acquired_at":' .. now_text .. ',"expires_at":' .. ends_text
        .. ',"extension_count":0,"max_extensions":' .. most_extensions .. "}"
      if holds == "" then
        soonest, holds = ends_text, hold
      else
        if ends < tonumber(soonest) then soonest = ends_text end
        holds = holds .. "," .. hold
      end
      local deadline = tonumber(mark)
      if ends < deadline or deadline <= now then
        mark = ends_text
        call("SET", KEYS[11], ends_text, "PX", length)
      end
      local lines
      if tiers == "0" then
        lines = ARGV[8] .. ":" .. match(price_list, "^%d+")
      else
        local prices, parts = {}, {}
        for price in gmatch(price_list, "%d+") do prices[#prices + 1] = price end
        for n = 1, count do parts[n] = picked[n] .. ":" .. (prices[string.byte(tiers, n) - 47] or "0") end
        lines = table.concat(parts, ",")
      end
      local head = "hash|" .. epoch_text .. "|" .. offset_text .. "|" .. now_text .. "|on_sale|" .. queued .. "|" .. mark
        .. "|" .. seats_len .. "|" .. details_version .. "|" .. chart_version .. "|0"
      local of_hold = "h|" .. fence .. "|" .. now_text .. "|" .. ends_text .. "|" .. length .. "|0|0|" .. lines .. "||"
        .. buyer
      local of_buyer = (held + count) .. "|" .. sold .. "|" .. ordered .. "|" .. soonest .. "|" .. holds .. "|" .. places
      if count == 1 then
        call("HSET", KEYS[2], "head", head, ARGV[8], lock, hold, of_hold, "@" .. buyer, of_buyer)
      else
        local set = {"head", head, hold, of_hold, "@" .. buyer, of_buyer}
        for n = 1, count do set[2 * n + 5], set[2 * n + 6] = picked[n], lock end
        call("HSET", KEYS[2], unpack(set))
      end
      call("ZADD", KEYS[7], ends_text, string.rep("0", 16 - #fence) .. fence .. "h" .. hold)
      local fact = {"at", now_text, "n", "1", "kind", "hold_placed", "hold", hold, "buyer", buyer, "seats", lines,
        "until", ends_text}
      if ARGV[5] == "1" then
        fact[15], fact[16], fact[17], fact[18] = "scope", ARGV[2], "fingerprint", ARGV[3]
      end
      call("XADD", KEYS[10], epoch_text .. "-" .. offset_text, unpack(fact))
      return {0, {}, epoch, offset, now, 0, {fact}}
    end
  end
end
