-- order_checkout: an order takes the code, and pins it until the provider's deadline, at most 15 minutes after the
-- checkout; it never shortens it.
-- ARGV   6 code  7 buyer  8 order  9 until when the provider wants to know
-- EMITS  what expires, CheckoutOrdered          COST  5 reads, 5 writes
local refused = guard_code(ARGV[6], ARGV[8], ARGV[7])
if refused then return refused end
follow_schedule()
expire_touched(ARGV[7], ARGV[6])
if status == "cancelled" then return refuse(NO.sale_cancelled) end
local code, why = own_code(ARGV[6], ARGV[7])
if not code then return refuse(why) end
if code.order == ARGV[8] then return unchanged() end
if code.order ~= "" then return refuse_order(NO.checkout_ordered, code.order) end
if purchase_of_order(ARGV[8]) then return refuse_order(NO.id_taken, ARGV[8]) end
local till = math.max(code.till, math.min(tonumber(ARGV[9]), code.placed + BOUND.ORDERED_MS_MAX))
emit({"kind", "checkout_ordered", "checkout", code.id, "order", ARGV[8], "until", decimal(till)})
reschedule(code, ARGV[8], till)
return done()
