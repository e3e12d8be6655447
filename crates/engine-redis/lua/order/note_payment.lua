-- note_payment: what the provider says: captured money buys the goods or goes back, a decline gives time to try again.
-- Told twice, or in any order, it comes to the same: money that came wins.
-- ARGV   6 order  7 payment  8 captured or declined  9 how much, or why not  10 the provider's name of it
-- EMITS  what expires, PaymentCaptured, what sells the goods or takes them back, PaymentDeclined, RefundOwed*
--        COST  7 reads, 9 writes, O(lines)
local order = read_order(ARGV[6])
if not order then return refuse(NO.order_unknown) end
local payment = payment_of(order, ARGV[7])
if not payment then return refuse(NO.payment_unknown) end
local is_captured = ARGV[8] == "captured"
if payment.captured or not is_captured and payment.declined == "1" then return unchanged() end
GOODS.expire(order.goods, order.buyer)
order = read_order(order.id)
payment = payment_of(order, ARGV[7])

-- At least a minute to try again, within the longest time to pay.
local function again_till()
  local till = GOODS.till(order.goods)
  return till and math.max(till, math.min(now + BOUND.DECLINED_MS, order.goods_at + BOUND.ORDERED_MS_MAX))
end

local function decline(reason, till)
  emit_order({"kind", "payment_declined", "order", order.id, "payment", payment.id, "reason", reason, "until",
    till and decimal(till) or ""})
  if till then GOODS.pin(order.goods, till) end
  local latest = order.payments[#order.payments]
  if order.status == "paying" and latest.id == payment.id then order.status = "pending" end
  payment.declined, payment.reason = "1", reason
  write_order(order)
end

if not is_captured then
  local latest = order.payments[#order.payments]
  local awaited = order.status == "paying" and latest.id == payment.id
  decline(ARGV[9], awaited and again_till() or nil)
  return done()
end
emit_order({"kind", "payment_captured", "order", order.id, "payment", payment.id, "amount_minor", ARGV[9], "reference",
  ARGV[10]})
payment.captured, payment.reference = tonumber(ARGV[9]), ARGV[10]
write_order(order)
-- Too little buys nothing; what is too much goes back.
local enough, bought = payment.captured >= payment.amount, false
local buys = enough and not GOODS.cancelled()
if buys and (order.status == "pending" or order.status == "paying") then
  GOODS.confirm(order, payment.id)
  bought = true
elseif buys and order.status == "expired" then
  bought = GOODS.take_back(order, payment.id)
end
-- Money that buys nothing ends its order's payment all the same: the goods are their buyer's for a while.
if not bought and order.status == "paying" then
  decline(enough and "the goods are gone" or "not the amount", again_till())
end
owe()
return done()
