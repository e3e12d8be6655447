-- lib/rules: what the event's head says, taken apart; bounds and ends as the domain numbers them.
local status, queued = head[5], tonumber(head[10])
local opens, closes, event_ends, hold_ms, extension_ms, extensions_max, limit, single =
  match(head[6], "^(%d*)|(%d+)|(%d+)|(%d+)|(%d*)|(%d+)|(%d+)|(%d)$")
opens, closes, event_ends = tonumber(opens), tonumber(closes), tonumber(event_ends)
hold_ms, extension_ms = tonumber(hold_ms), tonumber(extension_ms)
extensions_max, limit = tonumber(extensions_max), tonumber(limit)
local seats_len = tonumber(head[8])
local OFFER_MS, PLACE_MS, PLACE_RENEW_BELOW_MS = 60000, 300000, 150000
local QUEUE_PER_SEAT_MAX, QUEUE_PLACES_PER_BUYER_MAX = 100, 20
local EXPIRE_DUE_MAX, ENDED_MS, ENDED_MAX, HOLD_CAP_MS_MIN = 64, 3600000, 100000, 300000
local END_EXPIRED, END_RELEASED, END_OVERRIDDEN, END_CONFIRMED, END_DISSOLVED, END_OVER_LIMIT = 0, 1, 2, 3, 4, 5
-- Lua's stack takes some thousand values at once; longer lists go in pieces.
local CHUNK = 1000

local function decimal(number)
  return format("%.0f", number)
end

-- Price by tier, from the head; a tier without a price costs nothing.
local prices
local function price_of_tier(tier)
  if not prices then
    prices = {}
    for price in gmatch(head[7], "%d+") do prices[#prices + 1] = tonumber(price) end
  end
  return prices[tier + 1] or 0
end

local function numbers(text)
  local all = {}
  for number in gmatch(text, "%d+") do all[#all + 1] = tonumber(number) end
  return all
end

-- "3:2,5:1" -> {{3, 2}, {5, 1}}
local function counts(text)
  local all = {}
  for area, count in gmatch(text, "(%d+):(%d+)") do all[#all + 1] = {tonumber(area), tonumber(count)} end
  return all
end
