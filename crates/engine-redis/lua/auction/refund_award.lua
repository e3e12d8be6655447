-- refund_award: what was paid for an award goes back, wholly or in part; what was sold stays sold.
-- ARGV   6 order  7 amount ("": all that is left)  8 reason
-- EMITS  AwardRefunded, RefundOwed*          COST  4 reads, 4 writes
local order = read_order(ARGV[6])
if not order then return refuse(NO.order_unknown) end
if order.status ~= "confirmed" then return refuse(NO.not_refundable) end
local kept_then = order.total - order.returned
local amount = tonumber(ARGV[7]) or kept_then
if amount > kept_then then return refuse_field(NO.invalid, FIELD.amount_minor, "at most what is left of the order") end
emit({"kind", "award_refunded", "order", order.id, "bidder", order.buyer, "amount_minor", decimal(amount), "left_minor",
  decimal(kept_then - amount), "reason", ARGV[8]})
end_award(amount == kept_then and "refunded" or "settled")
owe()
return done()
