-- registration/lib/in_use: whether somebody has a place or waits for one, or an order was placed.
local function is_in_use()
  return call("ZCARD", KEYS[4]) > 0 or call("HLEN", KEYS[5]) > 0
end
