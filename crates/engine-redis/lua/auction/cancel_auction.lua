-- cancel_auction: it is called off: nobody gets it. Possible until it closes, with bids or without.
-- ARGV   6 reason
-- EMITS  what the clock brings, AuctionCancelled          COST  2 reads, 2 writes
close_due()
if status == "cancelled" then return refuse(NO.auction_cancelled) end
if status == "closed" then return refuse(NO.over) end
emit({"kind", "auction_cancelled", "reason", ARGV[6]})
status, cancelled = "cancelled", decimal(now)
return done()
