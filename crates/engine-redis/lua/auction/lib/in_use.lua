-- auction/lib/in_use: whether somebody has bid, was given what was bid for, or has ordered it.
local function is_in_use()
  return tonumber(bids_len) > 0 or call("HEXISTS", KEYS[2], "awards") == 1 or call("HLEN", KEYS[5]) > 0
end
