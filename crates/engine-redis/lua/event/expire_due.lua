-- expire_due: the sweep: whatever is due, in (until, fence) order; of a cancelled event every hold, then every order.
-- ARGV   6 limit
-- EMITS  StatusChanged*, HoldExpired*, PlaceExpired*, offers, HoldReleased*, OrderRefunded*, RefundOwed*
-- COST   O(what is due, at most 64)
follow_schedule()
local left = math.min(tonumber(ARGV[6]), BOUND.EXPIRE_DUE_MAX)

local function place_by_id(id)
  for _, place in ipairs(queue_of(thing(id).seat)) do
    if place.id == id then return place end
  end
end

local function refund_open()
  local ids = call("ZRANGEBYSCORE", KEYS[6], 0, "+inf", "LIMIT", 0, left)
  for n = 1, #ids do refund_all(order_of(ids[n]), "event cancelled") end
end

if status == "cancelled" then
  -- Every place was dissolved when the event was cancelled: what has a deadline is a hold.
  local living = left > 0 and over(0, left, true) or {}
  for n = 1, #living do
    local held = hold_of(living[n][2])
    end_hold(held, HOW.released, {"kind", "hold_released", "hold", held.id, "why", "event_cancelled"})
  end
  left = left - #living
  if left > 0 then refund_open() end
else
  local from = 0
  while left > 0 do
    local page, read = over(from, left)
    if read == 0 then break end
    from = from + read
    for n = 1, #page do
      local kind, id = page[n][1], page[n][2]
      -- An earlier one of this page may have ended it: a place that was passed over.
      local known = thing(id)
      if kind == "h" and known and known.kind == "h" and now >= known.ends then
        expire_hold(known)
        left = left - 1
      elseif kind == "q" and known and known.kind == "q" then
        local place = place_by_id(id)
        end_place(place, HOW.expired, "place_expired")
        left = left - 1
      end
    end
  end
end
owe()
if #facts == 0 then return unchanged() end
return done()
