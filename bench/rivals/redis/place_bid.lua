-- place_bid: the seed's bid on an auction that is kept in one hash, with a sorted set of its bids.
-- KEYS   1 auction:{auction}   2 auction:{auction}:bids   3 user:{auction}:active_bids
-- ARGV   1 bidder   2 amount_minor   3 now_ms   4 auction
-- REPLY  {1, amount, bids, ends_at} accepted | {0, why}
-- COST   1 read, 4 writes; 5 when the end moves
-- With its faults removed: replies are arrays, money and times are integers, the check and the write are one script, a
-- bid must reach the increment and not pass it by a rounding, the number of a bid makes its member unique, and all keys
-- share the auction's slot.
-- Left as it was: no maximum of a bidder's own, no log, and a request that is sent twice bids twice.

local told = redis.call('HMGET', KEYS[1], 'status', 'seller_id', 'current_bid', 'bid_increment', 'end_time')
local now, amount = tonumber(ARGV[3]), tonumber(ARGV[2])
if told[1] ~= 'active' then
    return {0, 'not_active'}
end
if told[2] == ARGV[1] then
    return {0, 'seller'}
end
local ends = tonumber(told[5])
if now >= ends then
    return {0, 'over'}
end
if amount < tonumber(told[3]) + tonumber(told[4]) then
    return {0, 'too_low'}
end
local bids = redis.call('HINCRBY', KEYS[1], 'total_bids', 1)
redis.call('HSET', KEYS[1], 'current_bid', ARGV[2], 'highest_bidder_id', ARGV[1])
redis.call('ZADD', KEYS[2], amount,
    cjson.encode({bidder_id = ARGV[1], amount = amount, time = now, number = bids}))
redis.call('SADD', KEYS[3], ARGV[4])
if ends - now <= 30000 then
    ends = now + 30000
    redis.call('HSET', KEYS[1], 'end_time', ends)
end
return {1, amount, bids, ends}
