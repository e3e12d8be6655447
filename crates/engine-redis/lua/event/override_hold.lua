-- override_hold: staff takes a hold away or gives it to somebody else; the fence rises either way.
-- ARGV   6 hold  7 reason  8 new holder ("": the seats come free)  9 hold_ms ("": the event's)
-- EMITS  what expires, HoldOverridden, offers          COST  5 reads, 6 writes, O(seats of the hold)
local named = seats_of_hold(ARGV[6])
follow_schedule()
touch_seats(named)
touch_hold(ARGV[6])
if ARGV[8] ~= "" and status == "cancelled" then return refuse(NO.event_cancelled) end
local held, code = living_hold(ARGV[6])
if not held then return refuse(code) end
if ARGV[8] == "" then
  end_hold(held, HOW.overridden,
    {"kind", "hold_overridden", "hold", held.id, "reason", ARGV[7]})
  return done()
end
local ends = now + (tonumber(ARGV[9]) or hold_ms)
local fence = emit({"kind", "hold_overridden", "hold", held.id, "reason", ARGV[7],
  "buyer", ARGV[8], "until", decimal(ends)})
take_hold(held)
BOOK.goods_gone(held.id, "cancelled")
grant(fence, held.id, ARGV[8], held.seats, held.prices, held.areas, ends, false)
forget_if_idle(held.buyer)
-- Nobody waits for what they hold.
for n = 1, #held.seats do
  local queue = queue_of(held.seats[n])
  for m = 1, #queue do
    if queue[m].buyer == ARGV[8] then
      end_place(queue[m], HOW.dissolved)
      break
    end
  end
end
return done()
