-- place_hold: hold seats and places for one buyer until a deadline, all or nothing.
-- ARGV   6 hold  7 buyer  8 seats "12,13"  9 areas "0:2"  10 hold_ms ("": the event's)
--        11 best available ("": explicit seats): "<offset>|<assumed now>|<pieces, or none>|<holds to expire>"
--        what the caller knows of the chart: 12 its version  13 each seat's tier as a character  14 each seat's neighbours
--        in its row, "l2,l1,r1,r2;…", if the event refuses single seats
-- REPLY  0 | 2 {hold, buyer, fence, placed, until, extensions, offered, seats, areas} | 4 | 5
-- EMITS  StatusChanged*, HoldExpired*, PlaceExpired*, PlaceLost*, SeatOffered*, HoldPlaced
-- COST   3 reads and 6 writes or more: whatever expires on the way; a plain hold of a large chart: event/lib/plain_hold_compact
local best_offset, assumed, pieces, due_for_best
if ARGV[11] ~= "" then
  best_offset, assumed, pieces, due_for_best = match(ARGV[11], "^(%d*)|(%d+)|(%w+)|(.*)$")
  -- Chosen from a replica: only as good as that replica. Deadlines since then would choose anew.
  if best_offset ~= "" and tonumber(best_offset) ~= offset then return retry("moved") end
  assumed = tonumber(assumed)
  local at = status == "scheduled" and opens or status == "on_sale" and closes or status == "closed" and event_ends
  if best_offset ~= "" and (now < assumed or at and at > assumed and at <= now
    or due_since(assumed)) then return retry("time") end
end

local hold, name, wanted = ARGV[6], ARGV[7], counts(ARGV[9])
local picked = numbers(ARGV[8])
follow_schedule()
touch_buyer(name)
touch_seats(pieces and {} or picked)
for n = 1, #wanted do touch_area(wanted[n][1], wanted[n][2]) end

-- The buyer's hold of exactly these seats and places. Places alone have no names, so they never match.
local function exactly_mine()
  local state = picked[1] and seat(picked[1])
  local held = state and state.grip == 1 and hold_of(state.by)
  if not held or held.buyer ~= name or #held.seats ~= #picked then return nil end
  if size_of(held) ~= #picked + PICK.count_of(wanted) then return nil end
  local asked = {}
  for n = 1, #picked do asked[picked[n]] = true end
  for n = 1, #held.seats do
    if not asked[held.seats[n]] then return nil end
  end
  for n = 1, #wanted do
    if places_in(held.areas, wanted[n][1]) ~= wanted[n][2] then return nil end
  end
  return held
end

local closed = off_sale()
if closed then
  -- What the buyer holds may be finished after the sale: it is still told to be theirs.
  if not pieces and status ~= "cancelled" and #unknown_seats(picked) == 0 then
    local mine = exactly_mine()
    if mine then return PICK.already_yours(mine) end
  end
  return refuse(closed)
end
if pieces then
  -- What is due on seats that would suit the wish gives way, if there were too few without.
  for id in gmatch(due_for_best, "%w+") do
    local held = hold_of(id)
    if held and now >= held.ends then expire_hold(held) end
  end
  if pieces == "none" then return refuse(NO.not_enough_seats) end
else
  local unknown = unknown_seats(picked)
  if #unknown > 0 then return refuse_all(unknown) end
end
local refused = PICK.unknown_area(wanted, FIELD.areas_n_area)
if refused then return refused end
load_seats(picked)
for n = 1, pieces and #picked or 0 do
  -- A choice made without a look at the position may have been overtaken: choose again.
  if status_of(picked[n]) ~= "available" then return retry("moved") end
end
local mine = exactly_mine()
if mine then return PICK.already_yours(mine) end
if knows(hold) then return refuse(NO.id_taken) end

refused = PICK.in_the_way(name, picked, wanted) or PICK.over_limit(name, picked, wanted)
if refused then return refused end
if single == "1" and not pieces and #picked > 0 then
  if ARGV[12] ~= chart_version or ARGV[14] == "" then return retry("chart") end
  local alone = PICK.left_alone(picked, ARGV[14])
  if alone then return refuse_all({{"s", alone, NO.leaves_single_seat}}) end
end

local costs, lines = PICK.priced(picked, wanted)
local ends = now + (tonumber(ARGV[10]) or hold_ms)
local fact = {"kind", "hold_placed", "hold", hold, "buyer", name, "seats", write_lines(picked, costs), "until",
  decimal(ends)}
if #lines > 0 then
  fact[#fact + 1] = "areas"
  fact[#fact + 1] = write_area_lines(lines)
end
if pieces then
  fact[#fact + 1] = "pieces"
  fact[#fact + 1] = pieces
end
local fence = emit(fact)
grant(fence, hold, name, picked, costs, lines, ends, false)
return done()
