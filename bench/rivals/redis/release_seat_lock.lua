-- release_seat_lock: give a seat back and name the next in line.
-- KEYS   1 seat:lock:{event}:seat   2 seat:queue:{event}:seat   3 user:locks:{event}:user
-- ARGV   1 user   2 seat   3 fence
-- REPLY  {1} released | {1, next_user} released, somebody waits | {0, 'not_locked'} | {0, 'invalid_token'}
-- COST   1 read, 3 writes

local user, seat, fence = ARGV[1], ARGV[2], tonumber(ARGV[3])

local present = redis.call('GET', KEYS[1])
if not present then
    return {0, 'not_locked'}
end
local lock = cjson.decode(present)
if lock.user_id ~= user or lock.fence ~= fence then
    return {0, 'invalid_token'}
end

redis.call('DEL', KEYS[1])
redis.call('SREM', KEYS[3], seat)
local first = redis.call('ZPOPMIN', KEYS[2])
if first[1] then
    return {1, first[1]}
end
return {1}
