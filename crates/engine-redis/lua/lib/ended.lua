-- lib/ended: what is remembered of the ended: for an hour, and the oldest go first in a flood. The score is when,
-- times a power of two, and how it ended, so that a state read back tells both.
local function forget_ended(ended)
  if #ended == 0 then return end
  local marks = {}
  for n = 1, #ended do
    marks[2 * n - 1] = decimal(now * BOUND.END_STEP + thing(ended[n]).how)
    marks[2 * n] = ended[n]
  end
  for from = 1, #marks, CHUNK do
    call("ZADD", KEYS[8], unpack(marks, from, math.min(from + CHUNK - 1, #marks)))
  end
  local old = call("ZRANGEBYSCORE", KEYS[8], "-inf", decimal((now - BOUND.ENDED_MS + 1) * BOUND.END_STEP - 1))
  local over = call("ZCARD", KEYS[8]) - #old - BOUND.ENDED_MAX
  if over > 0 then
    local flood = call("ZRANGE", KEYS[8], #old, #old + over - 1)
    for n = 1, #flood do old[#old + 1] = flood[n] end
  end
  if #old == 0 then return end
  call("ZREMRANGEBYRANK", KEYS[8], 0, #old - 1)
  for n = 1, #old do forget_thing(old[n]) end
end
