-- note_refund: the provider has paid a refund back.
-- ARGV   6 order  7 payment  8 which refund of the payment, from 1
-- EMITS  RefundPaid          COST  3 reads, 3 writes
local order = read_order(ARGV[6])
if not order then return refuse(NO.order_unknown) end
local payment = payment_of(order, ARGV[7])
local refund = payment and payment.refunds[tonumber(ARGV[8])]
if not refund then return refuse(NO.payment_unknown) end
if refund.paid == "1" then return unchanged() end
emit_order({"kind", "refund_paid", "order", order.id, "payment", payment.id, "refund", ARGV[8]})
refund.paid = "1"
write_order(order)
return done()
