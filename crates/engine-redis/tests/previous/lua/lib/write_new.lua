-- lib/write_new: the first facts of a listing: its position, its key's record, its stream.
local function write_new(facts, kind, rest)
  local first = offset + 1
  offset = offset + #facts
  call("HSET", KEYS[2], "head", format("%s|%.0f|%.0f|%.0f|%s", kind, epoch, offset, now, rest))
  local own = {"at", format("%.0f", now), "n", tostring(#facts)}
  if ARGV[2] ~= "" then
    call("SET", KEYS[13], format("%s|%.0f|%.0f|%d|%.0f", ARGV[3], epoch, first, #facts, now + ARGV[4]), "PX", ARGV[4])
    if ARGV[5] == "1" then
      own[5], own[6], own[7], own[8] = "scope", ARGV[2], "fingerprint", ARGV[3]
    end
  end
  for _, field in ipairs(facts[1]) do own[#own + 1] = field end
  facts[1] = own
  for n = 1, #facts do
    call("XADD", KEYS[10], format("%.0f-%.0f", epoch, first + n - 1), unpack(facts[n]))
  end
  return {0, {}, epoch, offset, now, 0, facts}
end
