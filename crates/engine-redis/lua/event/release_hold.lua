-- release_hold: gives a hold back; who waits for its seats is served in the same step.
-- ARGV   6 hold  7 fence  8 buyer
-- EMITS  what expires, HoldReleased, offers          COST  5 reads, 6 writes, O(seats of the hold)
local refused = guard_hold(ARGV[6], ARGV[7])
if refused then return refused end
local named = seats_of_hold(ARGV[6])
follow_schedule()
touch_buyer(ARGV[8])
touch_seats(named)
touch_hold(ARGV[6])
local held, code = own_hold(ARGV[6], ARGV[7])
if not held then return refuse(code) end
end_hold(held, HOW.released, {"kind", "hold_released", "hold", held.id, "why", "buyer"})
return done()
