-- drop_seats: gives back single seats or places of a hold; the rest keeps fence, deadline and prices.
-- ARGV   6 hold  7 fence  8 buyer  9 seats  10 areas
-- EMITS  what expires, SeatsDropped, offers          COST  5 reads, 6 writes, O(seats of the hold)
local refused = guard_hold(ARGV[6], ARGV[7], true)
if refused then return refused end
local named = seats_of_hold(ARGV[6])
follow_schedule()
touch_buyer(ARGV[8])
touch_seats(named)
touch_hold(ARGV[6])
if status == "cancelled" then return refuse(NO.event_cancelled) end
local held, code = own_hold(ARGV[6], ARGV[7])
if not held then return refuse(code) end
local dropped, away, foreign = numbers(ARGV[9]), counts(ARGV[10]), {}
local is_held, is_dropped = {}, {}
for n = 1, #held.seats do is_held[held.seats[n]] = true end
for n = 1, #dropped do
  is_dropped[dropped[n]] = true
  if not is_held[dropped[n]] then foreign[#foreign + 1] = {"s", dropped[n], NO.seat_not_in_hold} end
end
local count = #dropped
for n = 1, #away do
  if places_in(held.areas, away[n][1]) < away[n][2] then
    foreign[#foreign + 1] = {"a", away[n][1], NO.seat_not_in_hold}
  end
  count = count + away[n][2]
end
if #foreign > 0 then return refuse_all(foreign) end
if count == size_of(held) then
  return refuse_field(NO.invalid, FIELD.dropped_seats, "leaves at least one place; release the hold to give back all")
end
emit({"kind", "seats_dropped", "hold", held.id, "seats", ARGV[9], "areas", ARGV[10]})
local buyer = intern(held.buyer)
buyer.held = buyer.held - count
local kept, costs = {}, {}
for n = 1, #held.seats do
  if not is_dropped[held.seats[n]] then
    kept[#kept + 1] = held.seats[n]
    costs[#costs + 1] = held.prices[n]
  end
end
for n = 1, #away do
  take_places(held.areas, away[n][1], away[n][2])
  change_area(away[n][1], "held", -away[n][2])
end
held.seats, held.prices = kept, costs
LATER.tell_after(held)
things_dirty[held.id] = true
for n = 1, #dropped do change_seat(dropped[n], 0, nil) end
serve(dropped)
return done()
