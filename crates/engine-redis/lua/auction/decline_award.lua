-- decline_award: a second chance is turned down and goes to the next; a winning bid binds.
-- ARGV   6 bidder
-- EMITS  what the clock brings, AwardPassed          COST  O(bids)
local refused = guard_award(ARGV[6])
if refused then return refused end
close_due()
local award, nth = pending_of(ARGV[6])
if not award then return refuse(nth) end
if nth == 0 then return refuse(NO.award_binding) end
pass_on("declined")
return done()
