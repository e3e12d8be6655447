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
  if not held or held.buyer ~= name or #held.seats ~= #picked or #held.areas ~= #wanted then return nil end
  local asked = {}
  for n = 1, #picked do asked[picked[n]] = true end
  for n = 1, #held.seats do
    if not asked[held.seats[n]] then return nil end
  end
  for n = 1, #wanted do
    local same = false
    for _, line in ipairs(held.areas) do
      same = same or line[1] == wanted[n][1] and line[2] == wanted[n][2]
    end
    if not same then return nil end
  end
  return held
end

local function already_yours(held)
  return answer(2, {held.id, held.buyer, decimal(held.fence), decimal(held.placed), decimal(held.ends),
    held.extensions, held.offered and 1 or 0, write_lines(held.seats, held.prices), write_area_lines(held.areas)})
end

local closed = off_sale()
if closed then
  -- What the buyer holds may be finished after the sale: it is still told to be theirs.
  if not pieces and status ~= "cancelled" and #unknown_seats(picked) == 0 then
    local mine = exactly_mine()
    if mine then return already_yours(mine) end
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
for n = 1, #wanted do
  local area = area_of(wanted[n][1])
  if not area or area.retired then
    return refuse_field(NO.area_unknown, "areas[" .. (n - 1) .. "].area", "no such area")
  end
end
load_seats(picked)
for n = 1, pieces and #picked or 0 do
  -- A choice made without a look at the position may have been overtaken: choose again.
  if status_of(picked[n]) ~= "available" then return retry("moved") end
end
local mine = exactly_mine()
if mine then return already_yours(mine) end
if knows(hold) then return refuse(NO.id_taken) end

local in_the_way = {}
for n = 1, #picked do
  local shows = status_of(picked[n])
  local code = shows == "sold" and NO.seat_sold or shows == "blocked" and NO.seat_blocked
  if shows == "held" then
    code = hold_of(seat(picked[n]).by).buyer == name and NO.already_yours or NO.seat_held
  end
  if code then in_the_way[#in_the_way + 1] = {"s", picked[n], code} end
end
for n = 1, #wanted do
  if available(area_of(wanted[n][1])) < wanted[n][2] then
    in_the_way[#in_the_way + 1] = {"a", wanted[n][1], NO.area_full}
  end
end
if #in_the_way > 0 then return refuse_all(in_the_way) end
local asked = #picked
for n = 1, #wanted do asked = asked + wanted[n][2] end
local buyer = buyer_of(name)
local taken = buyer and buyer.held + buyer.sold or 0
if taken + asked > limit then return refuse_limit(NO.buyer_limit, limit, taken) end

if single == "1" and not pieces and #picked > 0 then
  if ARGV[12] ~= chart_version or ARGV[14] == "" then return retry("chart") end
  local is_picked = {}
  for n = 1, #picked do is_picked[picked[n]] = true end
  local function is_free(index)
    return index and not is_picked[index] and status_of(index) == "available"
  end
  local n = 0
  for l2, l1, r1, r2 in gmatch(ARGV[14], "(%d*),(%d*),(%d*),(%d*);") do
    n = n + 1
    l2, l1, r1, r2 = tonumber(l2), tonumber(l1), tonumber(r1), tonumber(r2)
    local alone = is_free(l1) and not is_free(l2) and l1 or is_free(r1) and not is_free(r2) and r1
    if alone then return refuse_all({{"s", alone, NO.leaves_single_seat}}) end
  end
end

local costs, lines = {}, {}
for n = 1, #picked do costs[n] = price_of_tier(tier_of(picked[n])) end
for n = 1, #wanted do
  lines[n] = {wanted[n][1], wanted[n][2], price_of_tier(area_of(wanted[n][1]).tier)}
end
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
