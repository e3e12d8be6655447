-- lib/log: the facts of a step go into the stream, and a yes is recorded under its key. They are the first that is
-- written: a stream that does not take them is found out while nothing has changed.
local function log_facts(is_yes)
  local first, step = offset - #facts + 1, format("%.0f|%d", now, #facts)
  local is_recorded = is_yes and ARGV[2] ~= ""
  if is_recorded and string.sub(ARGV[5], 1, 1) == "1" then step = step .. "|" .. ARGV[2] .. ARGV[3] end
  step = step .. string.sub(ARGV[5], 2)
  table.insert(facts[1], 1, step)
  table.insert(facts[1], 1, "step")
  for n = 1, #facts do
    call("XADD", KEYS[10], format("%.0f-%.0f", epoch, first + n - 1), unpack(facts[n]))
  end
  if is_recorded then
    call("SET", KEYS[13], format("%.0f|%.0f|%d|%.0f", epoch, first, #facts, now + ARGV[4]), "PX", ARGV[4])
  end
end
