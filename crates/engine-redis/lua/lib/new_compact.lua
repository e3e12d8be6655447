-- lib/new_compact: a large chart, every seat of it free.
local function new_seats(count, chart)
  call("SET", KEYS[9], chart .. string.rep("\0", math.ceil(count / 4) + math.ceil(count / 8)))
  -- Sixteen records a bucket when the house is full.
  call("HSET", KEYS[1], "buckets", math.max(16, math.ceil(count / 16)))
end
