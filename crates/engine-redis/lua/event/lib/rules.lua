-- event/lib/rules: what the event's head says, taken apart; bounds and ends as the domain numbers them.
queued, mark, seats_len = tonumber(queued), tonumber(mark), tonumber(seats_len)
-- How many seats have a queue when all is done; until then `queued` says where to look.
local queued_then = queued
local opens, closes, event_ends, hold_ms, extension_ms, extensions_max, limit, single, price_list =
  match(values[2], "^(%d*)|(%d+)|(%d+)|(%d+)|(%d*)|(%d+)|(%d+)|(%d)|([%d,]*)$")
opens, closes, event_ends = tonumber(opens), tonumber(closes), tonumber(event_ends)
hold_ms, extension_ms = tonumber(hold_ms), tonumber(extension_ms)
extensions_max, limit = tonumber(extensions_max), tonumber(limit)
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
    for price in gmatch(price_list, "%d+") do prices[#prices + 1] = tonumber(price) end
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
