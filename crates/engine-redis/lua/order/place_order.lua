-- place_order: takes what its buyer has for a while, and fixes what there is to pay.
-- ARGV   6 order  7 goods  8 buyer  9 the hold's fence ("": other goods)  fees: 10 an order  11 a unit  12 a share, in
--        hundredths of a percent
-- EMITS  what expires, OrderPlaced, CheckoutOrdered          COST  6 reads, 6 writes, O(lines)
local id, goods, name = ARGV[6], ARGV[7], ARGV[8]
GOODS.expire(goods, name)
if GOODS.cancelled() then return refuse(GOODS.cancelled()) end
local taken, why, whose = GOODS.own(goods, name, ARGV[9])
if not taken then return whose and refuse_order(why, whose) or refuse(why) end
local other = BOOK.get("g:" .. goods)
if other then return refuse_order(NO.already_ordered, other) end
why, whose = GOODS.ordered(goods)
if why then return whose and refuse_order(why, whose) or refuse(why) end
if is_booked(id) or GOODS.knows(id) then return refuse_order(NO.id_taken, id) end
-- Nothing is charged on top of nothing. A share is taken of thousands and their rest apart: numbers here are exact below
-- 2^53 only.
local fee = 0
if taken.total > 0 and taken.total <= BOUND.MINOR_MAX then
  local share, rest = tonumber(ARGV[12]), taken.total % BOUND.WHOLE
  fee = ARGV[10] + ARGV[11] * taken.units + (taken.total - rest) / BOUND.WHOLE * share
    + math.floor((rest * share + BOUND.WHOLE / 2) / BOUND.WHOLE)
end
if taken.total + fee > BOUND.MINOR_MAX then
  return refuse_field(NO.invalid, FIELD.fees, WHY.ORDER_MAX)
end
local currency = call("HGET", KEYS[1], "currency")
local fence = emit_order({"kind", "order_placed", "order", id, "buyer", name, "goods", GOODS.kind, "of", goods, "lines",
  taken.lines, "areas", taken.areas, "placed_at", decimal(taken.placed), "goods_minor", decimal(taken.total),
  "fee_minor", decimal(fee), "currency", currency})
-- An id that was used long ago, and is forgotten, may still wait to be removed.
if BOOK.get("b:" .. id) then open_changes[id] = false end
BOOK.set("g:" .. goods, id)
write_order({id = id, status = "pending", closed = "", settled = "0", fence = decimal(fence), placed = decimal(now),
  returned_units = 0, returned = 0, goods_minor = decimal(taken.total), fee_minor = decimal(fee), currency = currency,
  paid_by = "", kind = GOODS.kind, goods = goods, goods_at = taken.placed, lines = taken.lines, areas = taken.areas,
  buyer = name, payments = {}})
GOODS.take(goods, id)
return done()
