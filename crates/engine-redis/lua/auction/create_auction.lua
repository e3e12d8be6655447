-- create_auction: an auction with its times and terms; it is open by the clock alone.
-- ARGV   6 epoch  7 ends_at  8 rules  then the lists: fields of meta, the fact
-- REPLY  0 | 4 listing_exists, invalid | 9
-- EMITS  AuctionCreated          COST  3 reads, 4 writes
if layout then return {4, {NO.listing_exists, "", ""}, epoch, offset, now, 0, {}} end
if not is_vacant(3) then return damaged() end
epoch = tonumber(arg())
local ends, rules, fields = tonumber(arg()), arg(), list()
if now >= ends then return {4, {NO.invalid, "", "field", FIELD.ends_at, "in the future"}, 0, 0, now, 0, {}} end
call("HSET", KEYS[1], unpack(fields))
call("HSET", KEYS[2], "rules", rules, "numbers", format("%.0f|%.0f|0|", epoch, epoch))
call("SET", KEYS[11], format("%.0f", ends), "PX", format("%.0f", ends - now))
return write_created({list()}, "auction", format("live|0|%.0f|0|1|0|0", ends))
