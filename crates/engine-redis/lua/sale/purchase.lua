-- purchase: a code is used exactly once; a retry by its owner gets the first answer, another's attempt none.
-- ARGV   6 code  7 buyer  8 order  9 "1": somebody who may say so says that it is paid
-- REPLY  0 | 4 | 7 already purchased
-- EMITS  what expires, Purchased          COST  5 reads, 8 writes
local refused = guard_code(ARGV[6], ARGV[8], ARGV[7])
if refused then return refused end
follow_schedule()
expire_touched(ARGV[7], ARGV[6])
local order, settled = ARGV[8], ARGV[9] == "1"
local bought = purchase_of(ARGV[6])
if bought then
  if bought.buyer ~= ARGV[7] then return refuse(NO.not_yours) end
  return already_purchased(bought)
end
if status == "cancelled" then return refuse(NO.sale_cancelled) end
local code, why = own_code(ARGV[6], ARGV[7])
if not code then return refuse(why) end
-- An order that has taken the code is the only one that may use it, and only once it is paid.
if code.order ~= "" and not (settled and code.order == order) then
  return refuse_order(NO.checkout_ordered, code.order)
end
if not settled and total(code.lines) > 0 then return refuse(NO.payment_required) end
if purchase_of_order(order) then return refuse_order(NO.id_taken, order) end
local fence = emit({"kind", "purchased", "checkout", code.id, "order", order})
take_code(code)
add_purchase(code.id, order, code.buyer, code.lines, fence)
return done()
