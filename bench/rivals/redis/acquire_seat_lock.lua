-- acquire_seat_lock: hold one seat for one user until a deadline, or stand in line for it.
-- KEYS   1 seat:lock:{event}:seat   2 seat:queue:{event}:seat   3 user:locks:{event}:user
--        4 seat:sold:{event}        5 seat:fence:{event}
-- ARGV   1 user   2 seat   3 now_ms   4 ttl_ms
-- REPLY  {1, fence, until_ms} acquired | {2, fence, until_ms} already owned | {3, position} queued | {0, 'seat_sold'}
-- COST   2 reads, 4 writes on a free seat
-- The usual lock script with its faults removed: replies are arrays (a table with string keys comes back empty),
-- times are integer milliseconds, the fence is a counter and not a UUID, a sold seat is refused, nobody stands in
-- line twice, the seat's id comes as an argument and not out of a pattern, and all keys share the event's slot.
-- Left as it was: a newcomer may overtake the line when a lock expires.

local user, seat = ARGV[1], ARGV[2]
local now, ttl = tonumber(ARGV[3]), tonumber(ARGV[4])

if redis.call('SISMEMBER', KEYS[4], seat) == 1 then
    return {0, 'seat_sold'}
end

local present = redis.call('GET', KEYS[1])
if present then
    local lock = cjson.decode(present)
    if lock.user_id == user then
        return {2, lock.fence, lock.expires_at}
    end
    if not redis.call('ZSCORE', KEYS[2], user) then
        redis.call('ZADD', KEYS[2], redis.call('INCR', KEYS[5]), user)
        redis.call('PEXPIRE', KEYS[2], 300000)
    end
    return {3, redis.call('ZRANK', KEYS[2], user) + 1}
end

local fence = redis.call('INCR', KEYS[5])
local lock = {
    user_id = user,
    fence = fence,
    acquired_at = now,
    expires_at = now + ttl,
    extension_count = 0,
    max_extensions = 1,
}
redis.call('SET', KEYS[1], cjson.encode(lock), 'PX', ttl)
redis.call('SADD', KEYS[3], seat)
redis.call('PEXPIRE', KEYS[3], ttl + 60000)
return {1, fence, now + ttl}
