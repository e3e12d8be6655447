-- cancel_order: an order that nobody is paying; its goods are their buyer's again, for as long as they are kept.
-- ARGV   6 order  7 buyer
-- EMITS  what expires, OrderCancelled, CheckoutReturned          COST  5 reads, 5 writes, O(lines)
local order, why = own_order(ARGV[6], ARGV[7])
if not order then return refuse(why) end
GOODS.expire(order.goods, order.buyer)
order = read_order(order.id)
if NOT_PENDING[order.status] then return refuse_order(NOT_PENDING[order.status], order.id) end
emit_order({"kind", "order_cancelled", "order", order.id})
BOOK.goods_gone(order.goods, "cancelled")
GOODS.give_back(order)
return done()
