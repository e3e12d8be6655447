-- read_state: the whole state of a listing in one moment.
-- REPLY  {} | {meta, locks, queue, holds, orders, ended with scores, chart, due with scores, open orders, due chunks}
-- COST   O(everything)
if redis.call("EXISTS", KEYS[2]) == 0 then return {} end
-- Queues and holds of seats are hashes; who waits for a place of a registration, and its line, stand in sorted sets, bids
-- in a list.
local line = redis.call("TYPE", KEYS[3]).ok
return {
  redis.call("HGETALL", KEYS[1]),
  redis.call("HGETALL", KEYS[2]),
  line == "list" and redis.call("LRANGE", KEYS[3], 0, -1)
    or line == "zset" and redis.call("ZRANGE", KEYS[3], 0, -1, "WITHSCORES") or redis.call("HGETALL", KEYS[3]),
  redis.call("TYPE", KEYS[4]).ok == "zset" and redis.call("ZRANGE", KEYS[4], 0, -1, "WITHSCORES")
    or redis.call("HGETALL", KEYS[4]),
  redis.call("HGETALL", KEYS[5]),
  redis.call("ZRANGE", KEYS[8], 0, -1, "WITHSCORES"),
  redis.call("GET", KEYS[9]) or "",
  redis.call("ZRANGE", KEYS[7], 0, -1, "WITHSCORES"),
  redis.call("ZRANGE", KEYS[6], 0, -1, "WITHSCORES"),
  redis.call("HGETALL", KEYS[12]),
}
