-- lib/log: the facts of a step go into the stream, and a yes is recorded under its key.
local function log_facts(is_yes)
  local first, step = offset - #facts + 1, format("%.0f|%d", now, #facts)
  if is_yes and ARGV[2] ~= "" then
    call("SET", KEYS[13], format("%.0f|%.0f|%d|%.0f|%s", epoch, first, #facts, now, ARGV[4]), "PX", ARGV[4])
    if ARGV[5] == "1" then step = step .. "|" .. ARGV[2] .. "|" .. ARGV[3] end
  end
  table.insert(facts[1], 1, step)
  table.insert(facts[1], 1, "step")
  for n = 1, #facts do
    call("XADD", KEYS[10], format("%.0f-%.0f", epoch, first + n - 1), unpack(facts[n]))
  end
end
