-- confirm_hold: held becomes sold, under its order; the queues of its seats are dissolved.
-- ARGV   6 hold  7 fence  8 buyer  9 order
-- EMITS  what expires, HoldConfirmed          COST  6 reads, 8 writes, O(seats of the hold)
local refused = guard_hold(ARGV[6], ARGV[7], true)
if refused then return refused end
if opens(ARGV[6], ARGV[7]) and is_booked(ARGV[9]) then return refuse_order(NO.id_taken, ARGV[9]) end
local named = seats_of_hold(ARGV[6])
follow_schedule()
touch_buyer(ARGV[8])
touch_seats(named)
touch_hold(ARGV[6])
if status == "cancelled" then return refuse(NO.event_cancelled) end
local held, code = own_hold(ARGV[6], ARGV[7])
if not held then return refuse(code) end
if order_of(ARGV[9]) then return refuse_order(NO.id_taken, ARGV[9]) end
confirm_held(held, ARGV[9])
return done()
