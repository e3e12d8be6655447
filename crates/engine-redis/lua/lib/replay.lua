-- lib/replay: the same key and the same wish get the first answer again; another wish is refused.

-- What a fact has under a name.
local function field(fact, name)
  for n = 1, #fact, 2 do
    if fact[n] == name then return fact[n + 1] end
  end
end

if ARGV[2] ~= "" then
  local record = call("GET", KEYS[13])
  if record then
    local of_epoch, first, count, until_ms = match(record, "^(%d+)|(%d+)|(%d+)|(%d+)$")
    -- The record's own deadline decides: a server's clock and a listing's time may differ.
    if now < tonumber(until_ms) then
      local entries = call("XRANGE", KEYS[10], of_epoch .. "-" .. first, "+", "COUNT", count)
      if #entries < tonumber(count) or entries[1][1] ~= of_epoch .. "-" .. first then
        return {6, {of_epoch, first, count}, epoch, offset, now, 1, {}}
      end
      local step = field(entries[1][2], "step")
      -- The fact tells the wish's fingerprint. An operation id of the server's own is never used for another wish.
      local key = match(step, "^%d+|%d+|()")
      local fingerprint = key and string.sub(step, key + 16, key + 31)
      if string.sub(ARGV[5], 1, 1) == "1" and fingerprint ~= ARGV[3] then
        return {4, {NO.key_reused, "", ""}, epoch, offset, now, 0, {}}
      end
      local told = {}
      for n = 1, #entries do told[n] = entries[n][2] end
      return {0, {of_epoch, first}, epoch, offset, tonumber(match(step, "^%d+")), 1, told}
    end
  end
end
