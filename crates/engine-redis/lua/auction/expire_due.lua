-- expire_due: the sweep: closes what is over and passes on what was not paid.
-- EMITS  AuctionClosed?, AwardPassed?          COST  2 reads; O(bids) if an award is passed on
close_due()
if #facts == 0 then return unchanged() end
return done()
