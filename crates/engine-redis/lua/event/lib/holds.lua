-- event/lib/holds: how any verb finds the hold that its caller may act on.
local ENDS = {[HOW.expired] = NO.expired, [HOW.released] = NO.released, [HOW.overridden] = NO.overridden,
  [HOW.confirmed] = NO.hold_confirmed, [HOW.dissolved] = NO.released, [HOW.over_limit] = NO.released}

-- The living hold of this id, or nil and the code that says why there is none.
local function living_hold(id)
  local known = thing(id)
  if known and known.kind == "h" then return known end
  if known and known.kind == "e" and now - known.at < BOUND.ENDED_MS then return nil, ENDS[known.how] end
  return nil, NO.hold_unknown
end

-- The same, granted by this very fence.
local function own_hold(id, fence)
  local held, code = living_hold(id)
  if held and held.fence ~= tonumber(fence) then return nil, NO.stale_fence end
  return held, code
end

-- Whether an id names, or lately named, anything here; a new thing must bring a new id.
local function knows(id)
  local known = thing(id)
  return known and (known.kind ~= "e" or now - known.at < BOUND.ENDED_MS)
end

-- Why nothing new can be held or queued for; nil while the event is on sale.
local function off_sale()
  if status == "on_sale" then return nil end
  if status == "cancelled" then return NO.event_cancelled end
  if status == "closed" or status == "completed" then return NO.sale_closed end
  return NO.sale_not_started
end

-- Every seat of the list that is not on the chart, as things in the way.
local function unknown_seats(list)
  local unknown = {}
  load_tiers(list)
  for n = 1, #list do
    if not tier_of(list[n]) then unknown[#unknown + 1] = {"s", list[n], NO.seat_unknown} end
  end
  return unknown
end

-- What a seat shows: sold before blocked before held.
local function status_of(index)
  local state = seat(index)
  if state.grip == 2 then return "sold" end
  if state.blocked then return "blocked" end
  return state.grip == 1 and "held" or "available"
end
