-- raise_epoch: a listing keeps its state and goes on under a new epoch, because its node may have forgotten something.
-- Writes only where the head proves that the key is ours: its type, its eleven fields, and the kind of listing its name says.
-- KEYS   1 meta   2 the hash whose field "head" is the listing's line: layout|epoch|offset|… (lib/head)   3… what else only a
--        listing has
-- ARGV   1 the least epoch: the number of the new generation, which no history that was forgotten can have used
--        2 the layouts that a listing of this kind may have, each between blanks
-- REPLY  {epoch} | {epoch, meta, its type} (raised; its meta is damaged) | {0, head, its type or "junk"} (damaged) | {} (no such listing)
-- EMITS  nothing          COST  4 reads, 1 write
if redis.call("EXISTS", unpack(KEYS)) == 0 then return {} end
local meta, head = redis.call("TYPE", KEYS[1]).ok, redis.call("TYPE", KEYS[2]).ok
if head ~= "hash" then return {0, KEYS[2], head} end
local line = redis.call("HGET", KEYS[2], "head") or ""
local layout, epoch, rest = string.match(line, "^(%l+)|(%d+)|(%d+|%d+|[%l_]*|%d+|%d+|%d+|%d+|%d+|%d+)$")
if not layout or not string.find(ARGV[2], " " .. layout .. " ", 1, true) then return {0, KEYS[2], "junk"} end
epoch = math.max(tonumber(epoch) + 1, tonumber(ARGV[1]))
redis.call("HSET", KEYS[2], "head", string.format("%s|%.0f|%s", layout, epoch, rest))
if meta ~= "hash" then return {epoch, KEYS[1], meta} end
return {epoch}
