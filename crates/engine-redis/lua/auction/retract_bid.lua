-- retract_bid: a bid is taken back; the rules are replayed over those that remain. The end never moves.
-- ARGV   6 bid  7 bidder ("": staff asks)  8 reason
-- EMITS  what the clock brings, BidRetracted          COST  O(bids)
close_due()
local why = not_open()
if why then return refuse(why) end
local bids = read_bids()
local bid, nth
for n = 1, #bids do
  if bids[n].bid == tonumber(ARGV[6]) then bid, nth = bids[n], n end
end
if not bid then return refuse(NO.bid_unknown) end
if ARGV[7] ~= "" then
  if bid.bidder ~= ARGV[7] then return refuse(NO.bid_unknown) end
  if may_retract ~= "1" then return refuse(NO.retraction_not_allowed) end
  if not bid.retracted then
    for n = nth + 1, #bids do
      if bids[n].bidder == bid.bidder and not bids[n].retracted then return refuse(NO.bid_not_latest) end
    end
    if now - bid.at > BOUND.RETRACTION_AGE_MS_MAX or ends - now < BOUND.RETRACTION_LEFT_MS_MIN then
      return refuse(NO.retraction_late)
    end
  end
end
if bid.retracted then return unchanged() end
retract(bid)
replay(bids)
emit(put_replayed({"kind", "bid_retracted", "bid", decimal(bid.bid), "reason", ARGV[8]}))
return done()
