-- lib/open_plain: like lib/open, and in the same call what a hold of explicit seats has to look at.
local call, match, gmatch, format = redis.call, string.match, string.gmatch, string.format
local picked, values
if ARGV[8] ~= "" and ARGV[9] == "" and ARGV[11] == "" then
  if not string.find(ARGV[8], ",", 1, true) then
    picked = {ARGV[8]}
    values = call("HMGET", KEYS[2], "head", "rules", ARGV[8], ARGV[6], "@" .. ARGV[7])
  else
    picked = {}
    for seat in gmatch(ARGV[8], "%d+") do picked[#picked + 1] = seat end
    local count = #picked
    picked[count + 1], picked[count + 2] = ARGV[6], "@" .. ARGV[7]
    values = call("HMGET", KEYS[2], "head", "rules", unpack(picked))
    picked[count + 2], picked[count + 1] = nil, nil
  end
else
  values = call("HMGET", KEYS[2], "head", "rules")
end
