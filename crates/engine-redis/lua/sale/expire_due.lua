-- expire_due: the sweep of a sale: what is due in (until, fence) order; of a cancelled sale every code, then every
-- purchase.
-- ARGV   6 limit
-- EMITS  SaleStatusChanged*, CheckoutExpired*, CheckoutCancelled*, PurchaseRefunded*, RefundOwed*
-- COST   O(what is due, at most 64)
follow_schedule()
local left = math.min(tonumber(ARGV[6]), BOUND.EXPIRE_DUE_MAX)
local next_code = codes_in_order(status == "cancelled")
while left > 0 do
  local code = next_code()
  if not code then break end
  if status == "cancelled" then
    emit({"kind", "checkout_cancelled", "checkout", code.id, "why", "sale_cancelled"})
    end_code(code, HOW.released)
    BOOK.goods_gone(code.id, "cancelled")
  else
    expire_code(code)
  end
  left = left - 1
end
if status == "cancelled" and left > 0 then
  local open = call("ZRANGEBYSCORE", KEYS[6], 0, "+inf", "LIMIT", 0, left)
  for n = 1, #open do refund_all(purchase_of_order(open[n]), true, "sale cancelled") end
end
owe()
if #facts == 0 then return unchanged() end
return done()
