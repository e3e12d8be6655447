-- event/lib/goods: what an order needs of an event's seats: the hold it takes, more time for it, its sale, and seats
-- taken back.
local GOODS = {kind = "hold"}

-- Expires the hold, and whatever else its buyer's own command about it would.
function GOODS.expire(id, name)
  local named = seats_of_hold(id)
  follow_schedule()
  touch_buyer(name)
  touch_seats(named)
  touch_hold(id)
end

-- Why nothing can be bought any more.
function GOODS.cancelled()
  return status == "cancelled" and NO.event_cancelled or nil
end

-- What this key's hold has in it: lines, areas, units, price, when it was placed.
function GOODS.own(id, _, fence)
  local held, why = own_hold(id, fence)
  if not held then return nil, why end
  return {lines = write_lines(held.seats, held.prices), areas = write_area_lines(held.areas), units = size_of(held),
    total = SOLD.price(held.prices, held.areas), placed = held.placed}
end

-- A hold is taken by the book alone.
function GOODS.ordered() return nil end
function GOODS.take() end
function GOODS.give_back() end

function GOODS.knows(order) return order_of(order) ~= nil end

function GOODS.till(id)
  local held = hold_of(id)
  return held and held.ends
end

function GOODS.pin(id, till)
  local held = hold_of(id)
  due_remove("h", held)
  held.ends = till
  things_dirty[held.id] = true
  due_add("h", held)
  refresh_locks(held)
end

function GOODS.confirm(order, came)
  confirm_held(hold_of(order.goods), order.id)
  confirm_order(order.id, came)
end

-- Late money takes back all or nothing: what is available, and waited for by nobody.
function GOODS.take_back(order, came)
  local lines, costs = read_lines(order.lines)
  local places = read_area_lines(order.areas)
  follow_schedule()
  touch_buyer(order.buyer)
  touch_seats(lines)
  for n = 1, #places do touch_area(places[n][1], places[n][2]) end
  for n = 1, #lines do
    local free = tier_of(lines[n]) and status_of(lines[n]) == "available" and #queue_of(lines[n]) == 0
    if not free then return false end
  end
  for n = 1, #places do
    if available(area_of(places[n][1])) < places[n][2] then return false end
  end
  local fence = emit_order({"kind", "seats_taken_back", "order", order.id})
  SOLD.add(order.id, order.goods, fence, order.buyer, lines, costs, places)
  confirm_order(order.id, came)
  return true
end
