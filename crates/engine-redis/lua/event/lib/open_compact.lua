-- event/lib/open_compact: like lib/open, and in the same call the locks around the first seat of a plain hold.
local call, match, gmatch, format = redis.call, string.match, string.gmatch, string.format
local picked, lock_field
if ARGV[8] ~= "" and ARGV[9] == "" and ARGV[11] == "" then
  picked = {}
  for seat in gmatch(ARGV[8], "%d+") do picked[#picked + 1] = tonumber(seat) end
  lock_field = math.floor(picked[1] / 32)
  for n = 2, #picked do
    -- Seats that lie apart are not plain.
    if math.floor(picked[n] / 32) ~= lock_field then
      picked = nil
      break
    end
  end
end
local values = call("HMGET", KEYS[2], "head", "rules", lock_field or "head")
