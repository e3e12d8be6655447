-- series/lib/commit: everything that was decided is written here, the facts first.
local function commit(is_yes)
  if #facts == 0 then return end
  local all = {}
  for n = 1, #slots do all[n] = slots[n].text .. ":" .. slots[n].rest end
  changes.slots = table.concat(all, ",")
  changes.head = format("series|%.0f|%.0f|%.0f|%s|0|0|0|%s|0|0", epoch, offset, now, status, details_version)
  log_facts(is_yes)
  LATER.write()
  for name, value in pairs(changes) do call("HSET", KEYS[2], name, value) end
end
