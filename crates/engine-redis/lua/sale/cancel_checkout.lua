-- cancel_checkout: the buyer gives a code back before its time.
-- ARGV   6 code  7 buyer
-- EMITS  what expires, CheckoutCancelled          COST  4 reads, 6 writes
follow_schedule()
expire_touched(ARGV[7], ARGV[6])
local code, why = own_code(ARGV[6], ARGV[7])
if not code then return refuse(why) end
if code.order ~= "" then return refuse_order(NO.checkout_ordered, code.order) end
emit({"kind", "checkout_cancelled", "checkout", code.id, "why", "buyer"})
end_code(code, HOW.released)
return done()
