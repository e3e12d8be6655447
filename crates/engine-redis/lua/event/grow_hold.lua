-- grow_hold: adds seats and places to a living hold, all or nothing; the deadline stays, the fence rises.
-- ARGV   6 hold  7 fence  8 buyer  9 seats  10 areas
--        what the caller knows of the chart: 11 its version  12 each seat's neighbours, if the event refuses single seats
-- REPLY  0 | 2 {the hold, which has all of it already} | 4 | 5
-- EMITS  what expires, HoldGrown          COST  5 reads, 6 writes, O(seats of the hold and of what is added)
local refused = guard_hold(ARGV[6], ARGV[7], true)
if refused then return refused end
local picked, wanted, named = numbers(ARGV[9]), counts(ARGV[10]), {}
for n, index in ipairs(seats_of_hold(ARGV[6])) do named[n] = index end
for n = 1, #picked do named[#named + 1] = picked[n] end
follow_schedule()
touch_buyer(ARGV[8])
touch_seats(named)
touch_hold(ARGV[6])
for n = 1, #wanted do touch_area(wanted[n][1], wanted[n][2]) end
if status == "cancelled" then return refuse(NO.event_cancelled) end
local held, code = own_hold(ARGV[6], ARGV[7])
if not held then return refuse(code) end
local has, more = {}, {}
for n = 1, #held.seats do has[held.seats[n]] = true end
for n = 1, #picked do
  if not has[picked[n]] then more[#more + 1] = picked[n] end
end
if #more == 0 and #wanted == 0 then return PICK.already_yours(held) end
local closed = off_sale()
if closed then return refuse(closed) end
local unknown = unknown_seats(more)
if #unknown > 0 then return refuse_all(unknown) end
refused = PICK.unknown_area(wanted, FIELD.added_areas_n)
if refused then return refused end
local added = #more + PICK.count_of(wanted)
if size_of(held) + added > BOUND.HOLD_PLACES_MAX then
  return refuse_field(NO.invalid, FIELD.added_seats, WHY.HOLD_PLACES_MAX)
end
load_seats(more)
refused = PICK.in_the_way(held.buyer, more, wanted) or PICK.over_limit(held.buyer, more, wanted)
if refused then return refused end
if single == "1" and #more > 0 then
  if ARGV[11] ~= chart_version or ARGV[12] == "" then return retry("chart") end
  local beside, n = {}, 0
  for neighbours in gmatch(ARGV[12], "[^;]*;") do
    n = n + 1
    if not has[picked[n]] then beside[#beside + 1] = neighbours end
  end
  local alone = PICK.left_alone(more, table.concat(beside))
  if alone then return refuse_all({{"s", alone, NO.leaves_single_seat}}) end
end

local costs, lines = PICK.priced(more, wanted)
local fence = emit({"kind", "hold_grown", "hold", held.id, "buyer", held.buyer, "seats", write_lines(more, costs),
  "areas", write_area_lines(lines)})
due_remove("h", held)
held.fence = fence
for n = 1, #more do
  held.seats[#held.seats + 1] = more[n]
  held.prices[#held.prices + 1] = costs[n]
  change_seat(more[n], 1, held.id)
end
for _, line in ipairs(lines) do
  local same
  for _, known in ipairs(held.areas) do
    if known[1] == line[1] and known[3] == line[3] then same = known end
  end
  if same then same[2] = same[2] + line[2] else held.areas[#held.areas + 1] = line end
  change_area(line[1], "held", line[2])
end
LATER.tell_after(held)
things_dirty[held.id] = true
due_add("h", held)
local buyer = intern(held.buyer)
buyer.held = buyer.held + added
refresh_locks(held)
return done()
