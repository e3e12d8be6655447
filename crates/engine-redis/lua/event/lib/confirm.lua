-- event/lib/confirm: held becomes sold, under its order; the queues of its seats are dissolved.
local SOLD = {}

-- What seats and places cost together.
function SOLD.price(costs, places)
  local total = 0
  for n = 1, #costs do total = total + costs[n] end
  for n = 1, #places do total = total + places[n][2] * places[n][3] end
  return total
end

function SOLD.add(order, hold, fence, name, lines, costs, places)
  local buyer = intern(name)
  buyer.sold = buyer.sold + size_of({seats = lines, areas = places})
  buyer.ordered = true
  orders[order] = {id = order, hold = hold, fence = fence, at = now, total = SOLD.price(costs, places), buyer = name,
    seats = lines, prices = costs, areas = places}
  orders_dirty[order] = true
  open_changes[order] = fence
  for n = 1, #places do change_area(places[n][1], "sold", places[n][2]) end
  for n = 1, #lines do change_seat(lines[n], 2, order) end
end

local function confirm_held(held, order)
  local fence = emit({"kind", "hold_confirmed", "hold", held.id, "order", order})
  take_hold(held)
  SOLD.add(order, held.id, fence, held.buyer, held.seats, held.prices, held.areas)
  for n = 1, #held.seats do dissolve(held.seats[n]) end
  remember(held.id, HOW.confirmed)
end
