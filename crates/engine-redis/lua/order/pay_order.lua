-- pay_order: pins the goods and asks for the money, or confirms the order at once if there is nothing to ask for.
-- ARGV   6 order  7 buyer  8 payment  9 until when the provider answers  10 "1": charged elsewhere
--        11 what the provider takes the money from: "=…" ("": nothing said)
-- EMITS  what expires, PaymentAsked | OrderSettled, what sells the goods          COST  7 reads, 7 writes, O(lines)
local order, why = own_order(ARGV[6], ARGV[7])
if not order then return refuse(why) end
GOODS.expire(order.goods, order.buyer)
order = read_order(order.id)
if NOT_PENDING[order.status] then return refuse_order(NOT_PENDING[order.status], order.id) end
if GOODS.cancelled() then return refuse(GOODS.cancelled()) end
if ARGV[10] == "1" or order.total == 0 then
  if order.total > 0 then
    emit_order({"kind", "order_settled", "order", order.id})
    order.settled = "1"
    write_order(order)
  end
  GOODS.confirm(order)
  return done()
end
if BOOK.get("p:" .. ARGV[8]) then return refuse(NO.id_taken) end
if #order.payments >= BOUND.PAYMENTS_PER_ORDER_MAX then
  return refuse_limit(NO.payment_attempts, BOUND.PAYMENTS_PER_ORDER_MAX, BOUND.PAYMENTS_PER_ORDER_MAX)
end
local pinned = math.min(tonumber(ARGV[9]), order.goods_at + BOUND.ORDERED_MS_MAX)
local till = GOODS.is_kept and pinned or math.max(GOODS.till(order.goods) or pinned, pinned)
local fence = emit_order({"kind", "payment_asked", "order", order.id, "payment", ARGV[8], "amount_minor",
  decimal(order.total), "until", decimal(till), "method", ARGV[11]})
GOODS.pin(order.goods, till)
if GOODS.is_kept then GOODS.remember(order) end
order.status = "paying"
order.payments[#order.payments + 1] = {id = ARGV[8], fence = decimal(fence), amount = order.total, till = decimal(till),
  declined = "0", has_method = ARGV[11] ~= "" and "1" or "0", refunds = {}, reason = "", reference = "",
  method = string.sub(ARGV[11], 2)}
-- An order that money is asked for is never forgotten, nor the payment's number.
write_order(order)
BOOK.set("p:" .. ARGV[8], order.id)
return done()
