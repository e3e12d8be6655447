-- event/lib/in_use: whether somebody has a hold, a place in a queue, or an order.
local function is_in_use()
  return call("ZCARD", KEYS[7]) > 0 or call("HLEN", KEYS[3]) > 0 or call("HLEN", KEYS[5]) > 0
end
