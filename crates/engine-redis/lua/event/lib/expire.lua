-- event/lib/expire: deadlines as facts: the schedule, what a command touches, and offers to those in line.
local function follow_schedule()
  while true do
    local at, to
    if status == "scheduled" then at, to = opens, "on_sale"
    elseif status == "on_sale" then at, to = closes, "closed"
    elseif status == "closed" then at, to = event_ends, "completed" end
    if not at or now < at then return end
    change_status(to, "1")
  end
end

-- What counts against the limit, without the holds whose time is over though nobody has said so yet.
local function living_taken(buyer)
  local taken = buyer.held + buyer.sold
  load_holds(buyer.holds)
  for n = 1, #buyer.holds do
    local held = hold_of(buyer.holds[n])
    if now >= held.ends then taken = taken - size_of(held) end
  end
  return taken
end

-- Passes over the expired and those at their limit until somebody is given the seat.
local function serve_queue(index)
  local state, queue = seat(index), queue_of(index)
  while status == "on_sale" and state.grip == 0 and not state.blocked and queue[1] do
    local place = queue[1]
    local buyer = buyer_of(place.buyer)
    if now >= place.ends then
      end_place(place, HOW.expired, "place_expired")
    elseif buyer.held + buyer.sold >= limit and living_taken(buyer) >= limit then
      end_place(place, HOW.over_limit, "place_lost")
    else
      local price = price_of_tier(tier_of(index))
      local fence = emit({"kind", "seat_offered", "place", place.id, "buyer", place.buyer, "seat", decimal(index),
        "price_minor", decimal(price), "until", decimal(now + BOUND.OFFER_MS)})
      take_place(place)
      grant(fence, place.id, place.buyer, {index}, {price}, {}, now + BOUND.OFFER_MS, true)
    end
  end
end

-- Serves the queues of seats that came free, by index.
local function serve(list)
  if queued == 0 then return end
  table.sort(list)
  for n = 1, #list do serve_queue(list[n]) end
end

local function end_hold(held, how, fact)
  emit(fact)
  take_hold(held)
  local freed = {}
  for n = 1, #held.seats do
    change_seat(held.seats[n], 0, nil)
    freed[n] = held.seats[n]
  end
  forget_if_idle(held.buyer)
  remember(held.id, how)
  BOOK.goods_gone(held.id, how == HOW.expired and "expired" or "cancelled")
  serve(freed)
end

local function expire_hold(held)
  local fact = {"kind", "hold_expired", "hold", held.id}
  if held.offered then
    -- A lapsed offer says to whom and what: most holds were none, and write only their id.
    fact[5], fact[6], fact[7], fact[8] = "buyer", held.buyer, "seats", table.concat(held.seats, ",")
  end
  end_hold(held, HOW.expired, fact)
end

local function earlier(a, b)
  if a.ends ~= b.ends then return a.ends < b.ends end
  return a.fence < b.fence
end

-- The buyer's own due holds, by (until, fence).
local function touch_buyer(name)
  local buyer = buyer_of(name)
  if not buyer then return end
  load_holds(buyer.holds)
  local due = {}
  for n = 1, #buyer.holds do
    local held = hold_of(buyer.holds[n])
    if now >= held.ends then due[#due + 1] = held end
  end
  table.sort(due, earlier)
  for n = 1, #due do expire_hold(due[n]) end
end

-- Due holds, then due queue places, on these seats, by index.
local function touch_seats(list)
  local named = {}
  load_tiers(list)
  for n = 1, #list do
    if tier_of(list[n]) then named[#named + 1] = list[n] end
  end
  table.sort(named)
  load_seats(named)
  for n = 1, #named do
    local state = seat(named[n])
    local held = state.grip == 1 and hold_of(state.by)
    if held and now >= held.ends then expire_hold(held) end
    local queue, at = queue_of(named[n]), 1
    while queue[at] do
      local place = queue[at]
      if now >= place.ends then
        end_place(place, HOW.expired, "place_expired")
      else
        at = at + 1
      end
    end
  end
end

local function touch_hold(id)
  local held = hold_of(id)
  if held and now >= held.ends then expire_hold(held) end
end

-- The seats of the hold that a command names, as they are before anything expires.
local function seats_of_hold(id)
  local held = hold_of(id)
  return held and held.seats or {}
end

-- As many due holds as it takes to have `wanted` places free in an area.
local function touch_area(index, wanted)
  local area = area_of(index)
  if not area or area.held == 0 then return end
  local free, found, from = available(area), {}, 0
  while free < wanted and #found < BOUND.EXPIRE_DUE_MAX do
    local page, read = over(from, 256)
    if read == 0 then break end
    from = from + read
    local ids = {}
    for n = 1, #page do
      if page[n][1] == "h" then ids[#ids + 1] = page[n][2] end
    end
    load_holds(ids)
    for n = 1, #ids do
      if free >= wanted or #found >= BOUND.EXPIRE_DUE_MAX then break end
      local held = hold_of(ids[n])
      local places = places_in(held.areas, index)
      if places > 0 then
        found[#found + 1] = held
        free = free + places
      end
    end
  end
  for n = 1, #found do expire_hold(found[n]) end
end
