-- confirm_hold: held becomes sold, under its order; the queues of its seats are dissolved. Asked again under the same
-- order it is answered the same.
-- ARGV   6 hold  7 fence  8 buyer  9 order  10 "1": somebody who may say so says that it is paid
-- REPLY  0 | 4 | 10 {the order that bought the hold before}
-- EMITS  what expires, HoldConfirmed          COST  6 reads, 8 writes, O(seats of the hold)
local refused = guard_hold(ARGV[6], ARGV[7], true)
if refused then return refused end
if opens(ARGV[6], ARGV[7]) and is_booked(ARGV[9]) then return refuse_order(NO.id_taken, ARGV[9]) end
local named = seats_of_hold(ARGV[6])
follow_schedule()
touch_buyer(ARGV[8])
touch_seats(named)
touch_hold(ARGV[6])
local held, code = own_hold(ARGV[6], ARGV[7])
if code == NO.hold_confirmed then
  local bought = order_of(ARGV[9])
  if bought and bought.hold == ARGV[6] and bought.buyer == ARGV[8] then
    return answer(10, {bought.id, bought.hold, bought.buyer, decimal(bought.fence), decimal(bought.at),
      decimal(bought.total), write_lines(bought.seats, bought.prices), write_area_lines(bought.areas)})
  end
end
if status == "cancelled" then return refuse(NO.event_cancelled) end
if not held then return refuse(code) end
if ARGV[10] ~= "1" and SOLD.price(held.prices, held.areas) > 0 then return refuse(NO.payment_required) end
if order_of(ARGV[9]) then return refuse_order(NO.id_taken, ARGV[9]) end
confirm_held(held, ARGV[9])
return done()
