-- buy_now: the price is fixed, and the same fact closes the auction.
-- ARGV   6 buyer  7 currency
-- EMITS  what the clock brings, AuctionClosed          COST  4 reads, 3 writes
close_due()
local why = may_not_bid(ARGV[6], ARGV[7])
if why then return refuse(why) end
local offer = buy_now_on_offer()
if not offer then return refuse(NO.buy_now_gone) end
buy(ARGV[6], offer)
return done()
