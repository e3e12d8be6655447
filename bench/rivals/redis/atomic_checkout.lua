-- atomic_checkout: the seed's atomic decrement of a sale's stock with its limit per user, and the checkout code that
-- it gives out, in one script.
-- KEYS   1 sale:{sale}:available   2 user:{sale}:user:count   3 checkout:{sale}:code   4 sale:{sale}:due
-- ARGV   1 user   2 code   3 quantity   4 limit   5 now_ms   6 ttl_ms
-- REPLY  {1, left, until_ms} reserved | {0, 'sold_out'} | {0, 'limit'} | {0, 'code_taken'}
-- COST   3 reads, 5 writes
-- With its faults removed: replies are arrays, times are integer milliseconds, what is available is checked before it is
-- taken, counters do not expire, a code is bound to its user and given once, its deadline stands in an index from which
-- a cleanup gives the stock back, and all keys share the sale's slot.
-- Left as it was: no fence, no log, and a request that is sent twice reserves twice.

local quantity = tonumber(ARGV[3])
local left = tonumber(redis.call('GET', KEYS[1]) or '0') - quantity
if left < 0 then
    return {0, 'sold_out'}
end
if tonumber(redis.call('GET', KEYS[2]) or '0') + quantity > tonumber(ARGV[4]) then
    return {0, 'limit'}
end
if redis.call('EXISTS', KEYS[3]) == 1 then
    return {0, 'code_taken'}
end
local expires = tonumber(ARGV[5]) + tonumber(ARGV[6])
redis.call('DECRBY', KEYS[1], quantity)
redis.call('INCRBY', KEYS[2], quantity)
redis.call('HSET', KEYS[3], 'user_id', ARGV[1], 'quantity', quantity, 'status', 'reserved', 'expires_at', expires)
-- Kept for an hour after its deadline, so that its owner hears why.
redis.call('PEXPIRE', KEYS[3], tonumber(ARGV[6]) + 3600000)
redis.call('ZADD', KEYS[4], expires, ARGV[2])
return {1, left, expires}
