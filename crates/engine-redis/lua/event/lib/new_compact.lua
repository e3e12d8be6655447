-- event/lib/new_compact: a large chart, every seat of it free; sixteen records a bucket when the house is full.
local function new_chart(count, chart)
  return chart .. string.rep("\0", math.ceil(count / 4) + math.ceil(count / 8))
end
local function new_buckets(count) return math.max(16, math.ceil(count / 16)) end
