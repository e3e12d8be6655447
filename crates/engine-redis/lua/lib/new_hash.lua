-- lib/new_hash: a small chart needs no more than its tiers.
local function new_seats(count, chart)
  if count > 0 then call("SET", KEYS[9], chart) end
end
