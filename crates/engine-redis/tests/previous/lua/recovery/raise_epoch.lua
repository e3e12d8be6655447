-- raise_epoch: a listing keeps its state and goes on under a new epoch, because its node may have forgotten something.
-- KEYS   1 meta   2 the hash whose field "head" is the listing's line: layout|epoch|offset|… (lib/head)
-- ARGV   1 the least epoch: the number of the new generation, which no history that was forgotten can have used
-- REPLY  {epoch} | {} (no such listing)
-- EMITS  nothing          COST  2 reads, 1 write
local line = redis.call("HGET", KEYS[2], "head")
if line then
  local layout, epoch, rest = string.match(line, "^(%l+)|(%d+)|(.*)$")
  epoch = math.max(tonumber(epoch) + 1, tonumber(ARGV[1]))
  redis.call("HSET", KEYS[2], "head", string.format("%s|%.0f|%s", layout, epoch, rest))
  return {epoch}
end
local epoch = redis.call("HGET", KEYS[1], "epoch")
if not epoch then return {} end
epoch = math.max(tonumber(epoch) + 1, tonumber(ARGV[1]))
redis.call("HSET", KEYS[1], "epoch", string.format("%.0f", epoch))
return {epoch}
