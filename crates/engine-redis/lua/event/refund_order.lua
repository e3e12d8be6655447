-- refund_order: an order wholly or in part; the only way a sold seat comes back.
-- ARGV   6 order  7 seats  8 areas (neither: all that is left)  9 reason
-- EMITS  StatusChanged*, OrderRefunded, RefundOwed*          COST  4 reads, 6 writes, O(seats of the order)
follow_schedule()
local order = order_of(ARGV[6])
if not order then return refuse(NO.order_unknown) end
if #order.seats == 0 and #order.areas == 0 then return refuse(NO.not_refundable) end
local wanted, away = numbers(ARGV[7]), counts(ARGV[8])
if #wanted == 0 and #away == 0 then
  refund_all(order, ARGV[9])
  owe()
  return done()
end
local price, foreign, amount = {}, {}, 0
for n = 1, #order.seats do price[order.seats[n]] = order.prices[n] end
for n = 1, #wanted do
  if price[wanted[n]] then amount = amount + price[wanted[n]]
  else foreign[#foreign + 1] = {"s", wanted[n], NO.not_refundable} end
end
for n = 1, #away do
  local cost, missing = cost_of_places(order.areas, away[n][1], away[n][2])
  if missing == 0 then amount = amount + cost
  else foreign[#foreign + 1] = {"a", away[n][1], NO.not_refundable} end
end
if #foreign > 0 then return refuse_all(foreign) end
refund(order, wanted, away, amount, ARGV[9])
owe()
return done()
