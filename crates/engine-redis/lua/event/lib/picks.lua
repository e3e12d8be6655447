-- event/lib/picks: what a buyer wants of seats and areas: whether it may be had, and what it costs now.
local PICK = {}

function PICK.count_of(wanted)
  local count = 0
  for n = 1, #wanted do count = count + wanted[n][2] end
  return count
end

-- The refusal that names the first area that does not exist.
function PICK.unknown_area(wanted, field)
  for n = 1, #wanted do
    local area = area_of(wanted[n][1])
    if not area or area.retired then
      field = string.gsub(field, "%[%]", "[" .. (n - 1) .. "]")
      return refuse_field(NO.area_unknown, field, "no such area")
    end
  end
end

-- The refusal that names everything that is not free, in the order asked.
function PICK.in_the_way(name, picked, wanted)
  local all = {}
  for n = 1, #picked do
    local shows = status_of(picked[n])
    local code = shows == "sold" and NO.seat_sold or shows == "blocked" and NO.seat_blocked
    if shows == "held" then
      code = hold_of(seat(picked[n]).by).buyer == name and NO.already_yours or NO.seat_held
    end
    if code then all[#all + 1] = {"s", picked[n], code} end
  end
  for n = 1, #wanted do
    if available(area_of(wanted[n][1])) < wanted[n][2] then all[#all + 1] = {"a", wanted[n][1], NO.area_full} end
  end
  if #all > 0 then return refuse_all(all) end
end

function PICK.over_limit(name, picked, wanted)
  local buyer = buyer_of(name)
  local taken = buyer and buyer.held + buyer.sold or 0
  if taken + #picked + PICK.count_of(wanted) > limit then return refuse_limit(NO.buyer_limit, limit, taken) end
end

-- A free seat that would be left alone by these; of each its neighbours in its row: "l2,l1,r1,r2;".
function PICK.left_alone(picked, neighbours)
  local is_picked = {}
  for n = 1, #picked do is_picked[picked[n]] = true end
  local function is_free(index)
    return index and not is_picked[index] and status_of(index) == "available"
  end
  for l2, l1, r1, r2 in gmatch(neighbours, "(%d*),(%d*),(%d*),(%d*);") do
    l2, l1, r1, r2 = tonumber(l2), tonumber(l1), tonumber(r1), tonumber(r2)
    local alone = is_free(l1) and not is_free(l2) and l1 or is_free(r1) and not is_free(r2) and r1
    if alone then return alone end
  end
end

-- The prices of the seats, and the lines of the places.
function PICK.priced(picked, wanted)
  local costs, lines = {}, {}
  for n = 1, #picked do costs[n] = price_of_tier(tier_of(picked[n])) end
  for n = 1, #wanted do
    lines[n] = {wanted[n][1], wanted[n][2], price_of_tier(area_of(wanted[n][1]).tier)}
  end
  return costs, lines
end

-- A yes that changes nothing: the hold as it is.
function PICK.already_yours(held)
  return answer(2, {held.id, held.buyer, decimal(held.fence), decimal(held.placed), decimal(held.ends),
    held.extensions, held.offered and 1 or 0, write_lines(held.seats, held.prices), write_area_lines(held.areas)})
end
