-- take_back_purchase: late money: the code is over, but the buyer has paid. All its lines are sold after all, or none;
-- only a cancellation and an empty shelf stand in the way.
-- ARGV   6 code  7 buyer  8 order  9 lines with their old prices "3:1:700"
-- REPLY  0 | 4 | 7 already purchased
-- EMITS  what expires, TakenBack          COST  5 reads, 7 writes, O(lines)
local id, order, lines = ARGV[6], ARGV[8], read_lines(ARGV[9])
local refused = guard_code(id, order)
if refused then return refused end
follow_schedule()
expire_touched(ARGV[7], id, status ~= "cancelled" and lines)
local bought = purchase_of(id)
if bought then
  if bought.order ~= order then return refuse(NO.checkout_purchased) end
  return already_purchased(bought)
end
if status == "cancelled" then return refuse(NO.sale_cancelled) end
-- While the code lives it is used, not taken back.
if code_of(id) or purchase_of_order(order) then return refuse(NO.id_taken) end
local unknown = unknown_skus(lines)
if #unknown > 0 then return refuse_all(unknown) end
local in_the_way = obstacles(lines)
if #in_the_way > 0 then return refuse_all(in_the_way) end
local fence = emit({"kind", "purchase_taken_back", "checkout", id, "order", order, "buyer", ARGV[7], "lines", ARGV[9]})
add_purchase(id, order, ARGV[7], lines, fence)
return done()
