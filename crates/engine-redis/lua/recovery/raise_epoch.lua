-- raise_epoch: a listing keeps its state and goes on under a new epoch, because its node may have forgotten something.
-- KEYS   1 meta
-- ARGV   1 the least epoch: the number of the new generation, which no history that was forgotten can have used
-- REPLY  {epoch, offset} | {} (no such listing)
-- EMITS  nothing          COST  1 read, 1 write
local head = redis.call("HMGET", KEYS[1], "epoch", "offset")
if not head[1] then return {} end
local epoch = math.max(tonumber(head[1]) + 1, tonumber(ARGV[1]))
redis.call("HSET", KEYS[1], "epoch", string.format("%.0f", epoch))
return {epoch, tonumber(head[2] or "0")}
