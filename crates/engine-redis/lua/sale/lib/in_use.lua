-- sale/lib/in_use: whether a code lives, or something was bought.
local function is_in_use()
  return call("ZCARD", KEYS[7]) > 0 or call("HLEN", KEYS[5]) > 0
end
