-- settle_award: the award is paid, or was settled elsewhere.
-- ARGV   6 bidder  7 order
-- EMITS  what the clock brings, AwardSettled          COST  4 reads, 3 writes
local refused = guard_award(ARGV[6], ARGV[7])
if refused then return refused end
close_due()
local award, why = pending_of(ARGV[6])
if not award then return refuse(why) end
emit({"kind", "award_settled", "bidder", ARGV[6], "price_minor", award.price, "order", ARGV[7]})
end_award("settled")
return done()
