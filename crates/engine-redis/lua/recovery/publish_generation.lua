-- publish_generation: every server may use a generation from now on; only whoever holds the lease may say so.
-- KEYS   1 generation   2 lease
-- ARGV   1 the lease's holder   2 the generation's number   3 the generation
-- REPLY  1 published, the lease is free again | 0 the lease is another's, or a newer generation is published
-- EMITS  nothing          COST  2 reads, 2 writes
if redis.call("GET", KEYS[2]) ~= ARGV[1] then return 0 end
local known = redis.call("GET", KEYS[1])
if known and tonumber(string.match(known, "^%d+")) >= tonumber(ARGV[2]) then return 0 end
redis.call("SET", KEYS[1], ARGV[3])
redis.call("DEL", KEYS[2])
return 1
