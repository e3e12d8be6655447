-- lib/write_new: the first facts of a listing: its stream, its position, its key's record. The stream comes first: one that
-- does not take them is found out while nothing has changed.
local function write_new(facts, kind, rest)
  local first = offset + 1
  offset = offset + #facts
  local step = format("%.0f|%d", now, #facts)
  if ARGV[2] ~= "" and string.sub(ARGV[5], 1, 1) == "1" then step = step .. "|" .. ARGV[2] .. ARGV[3] end
  step = step .. string.sub(ARGV[5], 2)
  table.insert(facts[1], 1, step)
  table.insert(facts[1], 1, "step")
  for n = 1, #facts do
    call("XADD", KEYS[10], format("%.0f-%.0f", epoch, first + n - 1), unpack(facts[n]))
  end
  call("HSET", KEYS[2], "head", format("%s|%.0f|%.0f|%.0f|%s", kind, epoch, offset, now, rest))
  if ARGV[2] ~= "" then
    call("SET", KEYS[13], format("%.0f|%.0f|%d|%.0f", epoch, first, #facts, now + ARGV[4]), "PX", ARGV[4])
  end
  return {0, {}, epoch, offset, now, 0, facts}
end
