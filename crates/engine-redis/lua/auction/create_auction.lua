-- create_auction: an auction with its times and terms; it is open by the clock alone.
-- ARGV   6 epoch  7 ends_at  8 rules  then the lists: fields of meta, the fact
-- REPLY  0 | 4 listing_exists, invalid
-- EMITS  AuctionCreated          COST  1 read, 6 writes
if layout then return {4, {NO.listing_exists, "", ""}, epoch, offset, now, 0, {}} end
epoch = tonumber(arg())
local ends, rules, fields = tonumber(arg()), arg(), list()
if now >= ends then return {4, {NO.invalid, "", "field", "ends_at", "in the future"}, 0, 0, now, 0, {}} end
-- First what a server without memory refuses: behind a DEL it would refuse nothing more.
call("HSET", KEYS[1], unpack(fields))
call("DEL", KEYS[1], KEYS[2], KEYS[4], KEYS[5], KEYS[6], KEYS[10], KEYS[11])
call("HSET", KEYS[1], unpack(fields))
call("HSET", KEYS[2], "rules", rules, "numbers", format("%.0f|%.0f|0|", epoch, epoch))
call("SET", KEYS[11], format("%.0f", ends), "PX", format("%.0f", ends - now))
return write_new({list()}, "auction", format("live|0|%.0f|0|1|0|0", ends))
