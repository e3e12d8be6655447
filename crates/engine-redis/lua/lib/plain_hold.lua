-- lib/plain_hold: the hold that most buyers ask for: free seats of a small chart, nothing due, within the limit.
-- Whatever is not plain goes on to the whole rules below, and nothing has been written by then.
-- COST   4 reads (5 with TIME), 6 writes (7 when the marker moves), O(seats)
local plain_closes, plain_hold_ms, plain_extensions, plain_limit
if layout == "hash" and head[5] == "on_sale" and ARGV[9] == "" and ARGV[11] == "" then
  -- Events that refuse single seats do not match, and are not plain.
  plain_closes, plain_hold_ms, plain_extensions, plain_limit =
    match(head[6], "^%d*|(%d+)|%d+|(%d+)|%d*|(%d+)|(%d+)|0$")
end
if plain_closes and now < tonumber(plain_closes) then
  local hold, buyer, picked, known_things, known_locks, tiers = ARGV[6], ARGV[7], nil, nil, nil, ""
  local free, taken, soonest, holds, rest = true, 0, 0, hold, "0|0|"
  if string.find(ARGV[8], ",", 1, true) then
    picked = {}
    for seat in gmatch(ARGV[8], "%d+") do picked[#picked + 1] = seat end
    known_locks = call("HMGET", KEYS[2], unpack(picked))
    for n = 1, #picked do
      free = free and not known_locks[n]
      tiers = tiers .. call("GETRANGE", KEYS[9], picked[n], picked[n])
    end
  elseif ARGV[8] == "" then
    free = false
  else
    picked = {ARGV[8]}
    free = not call("HGET", KEYS[2], ARGV[8])
    tiers = call("GETRANGE", KEYS[9], ARGV[8], ARGV[8])
  end
  -- A seat that is unknown or off the chart has no tier.
  free = free and #tiers == #picked and not string.find(tiers, ".", 1, true)
  if free then
    known_things = call("HMGET", KEYS[4], hold, "@" .. buyer)
    free = not known_things[1]
  end
  local sold, ordered, places = "0", "0", ""
  if free and known_things[2] then
    local held, earliest, ids
    held, sold, ordered, earliest, ids, places = match(known_things[2], "^(%d+)|(%d+)|(%d)|(%d+)|([^|]*)|(.*)$")
    taken, soonest = tonumber(held), tonumber(earliest)
    if ids ~= "" then
      -- One of the buyer's holds may be due.
      free = now < soonest
      holds = ids .. "," .. hold
    end
  end
  if free and taken + tonumber(sold) + #picked <= tonumber(plain_limit) then
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
      local lines, of_seats
      if #picked == 1 then
        local price, tier = nil, string.byte(tiers) - 48
        for one in gmatch(head[7], "%d+") do
          if tier == 0 then
            price = one
            break
          end
          tier = tier - 1
        end
        lines = picked[1] .. ":" .. (price or "0")
        call("HSET", KEYS[2], picked[1], lock)
      else
        local prices, parts = {}, {}
        for one in gmatch(head[7], "%d+") do prices[#prices + 1] = one end
        of_seats = {}
        for n = 1, #picked do
          parts[n] = picked[n] .. ":" .. (prices[string.byte(tiers, n) - 47] or "0")
          of_seats[2 * n - 1], of_seats[2 * n] = picked[n], lock
        end
        lines = table.concat(parts, ",")
        call("HSET", KEYS[2], unpack(of_seats))
      end
      if holds == hold or ends < soonest then soonest = ends end
      call("HSET", KEYS[4], hold, "h|" .. fence .. "|" .. now_text .. "|" .. ends_text .. "|"
        .. format("%.0f", ends - now) .. "|0|0|" .. lines .. "||" .. buyer, "@" .. buyer,
        (taken + #picked) .. "|" .. sold .. "|" .. ordered .. "|" .. format("%.0f", soonest) .. "|" .. holds .. "|"
        .. places)
      call("ZADD", KEYS[7], ends_text, format("%016.0fh%s", epoch * 1099511627776 + offset, hold))
      local mark = tonumber(head[11])
      if ends < mark or mark <= now then
        call("SET", KEYS[11], ends_text, "PX", ends - now)
        call("HSET", KEYS[1], "offset", offset_text, "at", now_text, "mark", ends_text)
      else
        call("HSET", KEYS[1], "offset", offset_text, "at", now_text)
      end
      local fact
      if ARGV[5] == "1" then
        fact = {"at", now_text, "n", "1", "scope", ARGV[2], "fingerprint", ARGV[3], "kind", "hold_placed", "hold", hold,
          "buyer", buyer, "seats", lines, "areas", "", "until", ends_text, "pieces", "0"}
      else
        fact = {"at", now_text, "n", "1", "kind", "hold_placed", "hold", hold, "buyer", buyer, "seats", lines,
          "areas", "", "until", ends_text, "pieces", "0"}
      end
      call("XADD", KEYS[10], head[2] .. "-" .. offset_text, unpack(fact))
      return {0, {}, epoch, offset, now, 0, {fact}}
    end
  end
end
