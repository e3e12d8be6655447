-- return_checkout: the order gives the code back, with at least a minute to try once more, within the same bound.
-- ARGV   6 code  7 order
-- EMITS  what expires, CheckoutReturned          COST  3 reads, 5 writes
local refused = guard_code(ARGV[6], ARGV[7])
if refused then return refused end
follow_schedule()
expire_touched(nil, ARGV[6])
local code, why = living_code(ARGV[6])
if not code then return refuse(why) end
if code.order ~= ARGV[7] then return refuse_order(NO.order_unknown, ARGV[7]) end
local till = math.max(code.till, math.min(now + BOUND.DECLINED_MS, code.placed + BOUND.ORDERED_MS_MAX))
emit({"kind", "checkout_returned", "checkout", code.id, "until", decimal(till)})
reschedule(code, "", till)
return done()
