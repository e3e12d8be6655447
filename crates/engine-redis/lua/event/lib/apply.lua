-- event/lib/apply: what each fact does to the listing, in memory only; `commit` writes it all at the end.
local facts, meta_changes, ended = {}, {}, {}

-- Takes the next offset for a fact; returns the fence it grants.
local function emit(fact)
  offset = offset + 1
  facts[#facts + 1] = fact
  return epoch * BOUND.FENCE_EPOCH + offset
end

local function chart_tier(index)
  local byte = string.byte(call("GETRANGE", KEYS[9], index, index))
  -- 46 is a dot: the seat is retired.
  return byte and byte ~= 46 and byte - 48 or nil
end

local tiers = {}
local function tier_of(index)
  local known = tiers[index]
  if known == nil then
    known = index < seats_len and chart_tier(index) or false
    tiers[index] = known
  end
  return known or nil
end

-- Tiers of many seats in one call where they lie together.
local function load_tiers(list)
  if #list < 2 then return end
  local from, to = list[1], list[1]
  for n = 2, #list do
    from, to = math.min(from, list[n]), math.max(to, list[n])
  end
  if to - from > 8 * #list + 4000 then return end
  local bytes = call("GETRANGE", KEYS[9], from, to)
  for n = 1, #list do
    local byte = string.byte(bytes, list[n] - from + 1)
    -- Behind the last seat a compact chart goes on with its bits.
    tiers[list[n]] = list[n] < seats_len and byte and byte ~= 46 and byte - 48 or false
  end
end

local function size_of(held)
  local size = #held.seats
  for n = 1, #held.areas do size = size + held.areas[n][2] end
  return size
end

local function without(list, gone)
  for n = 1, #list do
    if list[n] == gone then
      table.remove(list, n)
      return
    end
  end
end

local function intern(name)
  local buyer = buyer_of(name)
  if not buyer then
    buyer = {held = 0, sold = 0, ordered = false, soonest = 0, holds = {}, places = {}}
    buyers[name] = buyer
  end
  buyers_dirty[name] = true
  return buyer
end

-- A buyer with nothing left is forgotten; one with orders stays, because they count against the limit.
local function forget_if_idle(name)
  local buyer = buyer_of(name)
  if buyer and buyer.held + buyer.sold + #buyer.places == 0 and not buyer.ordered then
    buyers[name] = false
    buyers_dirty[name] = true
  end
end

local function remember(id, how)
  things[id] = {kind = "e", at = now, how = how}
  things_dirty[id] = true
  ended[#ended + 1] = id
end

local function change_seat(index, grip, by)
  local state = seat(index)
  state.grip, state.by = grip, by
  seats_dirty[index] = true
end

local function change_area(index, what, count)
  local area = area_of(index)
  area[what] = area[what] + count
  areas_dirty[index] = true
end

local function grant(fence, id, name, held_seats, held_prices, held_areas, ends, offered)
  local held = {kind = "h", id = id, fence = fence, placed = now, ends = ends,
    length = offered and BOUND.OFFER_MS or ends - now, extensions = 0, offered = offered, buyer = name,
    seats = held_seats, prices = held_prices, areas = held_areas}
  things[id] = held
  things_dirty[id] = true
  local buyer = intern(name)
  buyer.held = buyer.held + size_of(held)
  -- None of the buyer's holds ends before this; a plain hold need not look at them.
  if #buyer.holds == 0 or ends < buyer.soonest then buyer.soonest = ends end
  buyer.holds[#buyer.holds + 1] = id
  due_add("h", held)
  for n = 1, #held_seats do change_seat(held_seats[n], 1, id) end
  for n = 1, #held_areas do change_area(held_areas[n][1], "held", held_areas[n][2]) end
end

-- Takes a hold out of every list; its seats still point at it.
local function take_hold(held)
  due_remove("h", held)
  local buyer = intern(held.buyer)
  buyer.held = buyer.held - size_of(held)
  without(buyer.holds, held.id)
  for n = 1, #held.areas do change_area(held.areas[n][1], "held", -held.areas[n][2]) end
end

local function take_place(place)
  due_remove("q", place)
  things[place.id] = false
  things_dirty[place.id] = true
  local buyer = intern(place.buyer)
  without(buyer.places, place.seat)
  local queue = queue_of(place.seat)
  without(queue, place)
  queues_dirty[place.seat] = true
  if #queue == 0 then
    -- Counted at the end: this seat's queue is still to be found until then.
    queued_then = queued_then - 1
  end
end

-- With a fact of its own, which names whose place it was and for which seat, or without one: of a queue that another dissolves.
local function end_place(place, how, kind)
  if kind then
    emit({"kind", kind, "place", place.id, "buyer", place.buyer, "seat", decimal(place.seat)})
  end
  take_place(place)
  forget_if_idle(place.buyer)
  remember(place.id, how)
end

local function dissolve(index)
  local queue = queue_of(index)
  while queue[1] do end_place(queue[1], HOW.dissolved) end
end

local function change_status(to, by_schedule)
  emit({"kind", "status_changed", "status", to, "by_schedule", by_schedule})
  status = to
  if to ~= "draft" and to ~= "scheduled" and to ~= "on_sale" then
    local all = queued_seats()
    for n = 1, #all do dissolve(all[n]) end
  end
end
