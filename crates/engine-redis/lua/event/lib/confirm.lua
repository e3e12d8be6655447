-- event/lib/confirm: held becomes sold, under its order; the queues of its seats are dissolved.
local function sell(order, fence, name, lines, costs, places)
  local buyer = intern(name)
  buyer.sold = buyer.sold + size_of({seats = lines, areas = places})
  buyer.ordered = true
  orders[order] = {id = order, fence = fence, buyer = name, seats = lines, prices = costs, areas = places}
  orders_dirty[order] = true
  open_changes[order] = fence
  for n = 1, #places do change_area(places[n][1], "sold", places[n][2]) end
  for n = 1, #lines do change_seat(lines[n], 2, order) end
end

local function confirm_held(held, order)
  local fence = emit({"kind", "hold_confirmed", "hold", held.id, "order", order})
  take_hold(held)
  sell(order, fence, held.buyer, held.seats, held.prices, held.areas)
  for n = 1, #held.seats do dissolve(held.seats[n]) end
  remember(held.id, HOW.confirmed)
end
