-- confirm_hold: held becomes sold, under its order; the queues of its seats are dissolved.
-- ARGV   6 hold  7 fence  8 buyer  9 order
-- EMITS  what expires, HoldConfirmed          COST  6 reads, 8 writes, O(seats of the hold)
local named = seats_of_hold(ARGV[6])
follow_schedule()
touch_buyer(ARGV[8])
touch_seats(named)
touch_hold(ARGV[6])
if status == "cancelled" then return refuse(NO.event_cancelled) end
local held, code = own_hold(ARGV[6], ARGV[7])
if not held then return refuse(code) end
if order_of(ARGV[9]) then return refuse_order(NO.id_taken, ARGV[9]) end
local fence = emit({"kind", "hold_confirmed", "hold", held.id, "order", ARGV[9]})
take_hold(held)
local buyer = intern(held.buyer)
buyer.sold = buyer.sold + size_of(held)
buyer.ordered = true
orders[ARGV[9]] = {id = ARGV[9], fence = fence, buyer = held.buyer, seats = held.seats, prices = held.prices,
  areas = held.areas}
orders_dirty[ARGV[9]] = true
open_changes[ARGV[9]] = fence
for n = 1, #held.areas do change_area(held.areas[n][1], "sold", held.areas[n][2]) end
for n = 1, #held.seats do
  change_seat(held.seats[n], 2, ARGV[9])
  dissolve(held.seats[n])
end
remember(held.id, HOW.confirmed)
return done()
