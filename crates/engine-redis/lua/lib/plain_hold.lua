-- lib/plain_hold: the hold that most buyers ask for: free seats of a small chart, nothing due, within the limit.
-- Whatever is not plain goes on to the whole rules below, and nothing has been written by then.
-- COST   1 read (2 with TIME), 4 writes (5 when the marker moves), O(seats)
do
  local plain_closes, plain_hold_ms, plain_extensions, plain_limit, plain_prices
  local plain_tiers = ARGV[13]
  if picked and layout == "hash" and status == "on_sale" and chart_version == ARGV[12] then
    -- Events that refuse single seats do not match, and are not plain.
    plain_closes, plain_hold_ms, plain_extensions, plain_limit, plain_prices =
      match(values[2], "^%d*|(%d+)|%d+|(%d+)|%d*|(%d+)|(%d+)|0|([%d,]*)$")
  end
  if plain_closes and now < tonumber(plain_closes) then
    local hold, buyer, count, free = ARGV[6], ARGV[7], #picked, true
    for n = 3, count + 2 do free = free and not values[n] end
    local known_thing, known_buyer = values[count + 3], values[count + 4]
    local taken, soonest, holds = 0, 0, hold
    -- The caller knows the chart's tiers; a seat that is unknown or off the chart has none.
    free = free and not known_thing and #plain_tiers == count and not string.find(plain_tiers, ".", 1, true)
    local sold, ordered, places = "0", "0", ""
    if free and known_buyer then
      local held, earliest, ids
      held, sold, ordered, earliest, ids, places = match(known_buyer, "^(%d+)|(%d+)|(%d)|(%d+)|([^|]*)|(.*)$")
      taken, soonest = tonumber(held), tonumber(earliest)
      if ids ~= "" then
        -- One of the buyer's holds may be due.
        free = now < soonest
        holds = ids .. "," .. hold
      end
    end
    if free and taken + tonumber(sold) + count <= tonumber(plain_limit) then
      local ends = now + (tonumber(ARGV[10]) or plain_hold_ms)
      local now_text, ends_text = format("%.0f", now), format("%.0f", ends)
      local known = ARGV[2] ~= "" and call("SET", KEYS[13],
        format("%s|%.0f|%.0f|1|%.0f", ARGV[3], epoch, offset + 1, now + ARGV[4]), "PX", ARGV[4], "NX", "GET")
      if not known then
        offset = offset + 1
        local offset_text = format("%.0f", offset)
        local fence = format("%.0f", epoch * 1099511627776 + offset)
        local name = buyer
        if string.find(name, '["\\]') then name = string.gsub(name, '["\\]', "\\%0") end
        local lock = format('{"state":"held","blocked":0,"hold":"%s","user_id":"%s","fencing_token":%s,"acquired_at":%s,'
          .. '"expires_at":%s,"extension_count":0,"max_extensions":%s}', hold, name, fence, now_text, ends_text,
          plain_extensions)
        if holds == hold or ends < soonest then soonest = ends end
        local moved = ends < tonumber(mark) or tonumber(mark) <= now
        if moved then
          mark = ends_text
          call("SET", KEYS[11], ends_text, "PX", format("%.0f", ends - now))
        end
        local head = format("hash|%.0f|%s|%s|on_sale|%s|%s|%s|%s|%s|0", epoch, offset_text, now_text, queued, mark, seats_len,
          details_version, chart_version)
        local of_buyer = format("%d|%s|%s|%.0f|%s|%s", taken + count, sold, ordered, soonest, holds, places)
        local lines, of_hold
        if count == 1 and plain_tiers == "0" then
          lines = picked[1] .. ":" .. match(plain_prices, "^%d+")
        else
          local prices, parts = {}, {}
          for price in gmatch(plain_prices, "%d+") do prices[#prices + 1] = price end
          for n = 1, count do parts[n] = picked[n] .. ":" .. (prices[string.byte(plain_tiers, n) - 47] or "0") end
          lines = table.concat(parts, ",")
        end
        of_hold = format("h|%s|%s|%s|%.0f|0|0|%s||%s", fence, now_text, ends_text, ends - now, lines, buyer)
        if count == 1 then
          call("HSET", KEYS[2], "head", head, picked[1], lock, hold, of_hold, "@" .. buyer, of_buyer)
        else
          local set = {"head", head, hold, of_hold, "@" .. buyer, of_buyer}
          for n = 1, count do set[2 * n + 5], set[2 * n + 6] = picked[n], lock end
          call("HSET", KEYS[2], unpack(set))
        end
        call("ZADD", KEYS[7], ends_text, format("%016.0fh%s", epoch * 1099511627776 + offset, hold))
        local fact
        if ARGV[5] == "1" then
          fact = {"at", now_text, "n", "1", "scope", ARGV[2], "fingerprint", ARGV[3], "kind", "hold_placed", "hold", hold,
            "buyer", buyer, "seats", lines, "areas", "", "until", ends_text, "pieces", "0"}
        else
          fact = {"at", now_text, "n", "1", "kind", "hold_placed", "hold", hold, "buyer", buyer, "seats", lines,
            "areas", "", "until", ends_text, "pieces", "0"}
        end
        call("XADD", KEYS[10], format("%.0f-%s", epoch, offset_text), unpack(fact))
        return {0, {}, epoch, offset, now, 0, {fact}}
      end
    end
  end
end
