-- unban_bidder: the bidder may bid again; what was retracted stays so.
-- ARGV   6 bidder
-- EMITS  what the clock brings, BidderUnbanned          COST  3 reads, 3 writes
close_due()
if not is_banned(ARGV[6]) then return unchanged() end
later("HSET", KEYS[2], "banned", decimal(tonumber(call("HGET", KEYS[2], "banned")) - 1))
later("HDEL", KEYS[2], "!" .. ARGV[6])
emit({"kind", "bidder_unbanned", "bidder", ARGV[6]})
return done()
