-- auction/lib/rules: the auction is there; what its head, its rules and its lead say, and the five rules of proxy bidding.
-- `rules` is one line:
--   starts|ends|currency|start|tick|reserve|buy now|policy|mode|window|cap|extensions|bidders retract|ladder|seller
-- `lead` is max|bidder of the bid that leads, `closed` at|how|last_at, `cancelled` when, `awards` a line each:
-- state|bid|price|until|bidder. `!<bidder>` is banned. The bids stand beside them by their numbers, max|at||bidder, a
-- retracted one max|at|r|bidder: so a bid is written by the same call as the head.
-- `numbers` is created in epoch|epoch|skipped|from:skipped,…: in every later epoch numbers are higher than the count by as
-- many as an auction may have bids, so that no bid has the number of one that was lost with the end of another epoch.
if not layout then
  return {4, {NO.listing_unknown, "", ""}, epoch, offset, now, 0, {}}
end
local facts, open_changes = {}, {}
bids_len, ends, extensions, price = tonumber(bids_len), tonumber(ends), tonumber(extensions), tonumber(price)
-- Lua's stack takes some thousand values at once; longer lists go in pieces.
local CHUNK = 1000
local starts, original, currency, start, tick, reserve, buy_now, policy, mode, window, cap, extension_list, may_retract,
  ladder, seller =
  match(values[2], "^(%d+)|(%d+)|(%u+)|(%d+)|(%d+)|(%d*)|(%d*)|(%l?)|(%l?)|(%d*)|(%d*)|([%d,]*)|(%d)|([%d:,]+)|(.*)$")
starts, original, start, tick = tonumber(starts), tonumber(original), tonumber(start), tonumber(tick)
reserve, buy_now, window, cap = tonumber(reserve), tonumber(buy_now), tonumber(window), tonumber(cap)

local leader, closed, cancelled, awards = nil, nil, nil, {}
local kept = call("HMGET", KEYS[2], "lead", "closed", "awards", "cancelled", "numbers")
if kept[1] then
  local max, name = match(kept[1], "^(%d+)|(.*)$")
  leader = {bid = tonumber(lead_bid), max = tonumber(max), bidder = name}
end
if kept[2] then
  local at, how, last = match(kept[2], "^(%d+)|([%l_]+)|(%d+)$")
  closed = {at = at, how = how, last_at = last}
end
for state, bid, cost, till, name in gmatch(kept[3] or "", "(%l+)|(%d*)|(%d+)|(%d+)|([^\n]*)") do
  awards[#awards + 1] = {state = state, bid = bid, price = cost, till = tonumber(till), bidder = name}
end
cancelled = kept[4]

local function decimal(number) return format("%.0f", number) end

local NUMBERS = {gaps = {}}
NUMBERS.created, NUMBERS.epoch, NUMBERS.skipped, NUMBERS.list = match(kept[5] or "", "^(%d+)|(%d+)|(%d+)|(.*)$")
for from, skipped in gmatch(NUMBERS.list or "", "(%d+):(%d+)") do
  NUMBERS.gaps[#NUMBERS.gaps + 1] = {from = tonumber(from), skipped = tonumber(skipped)}
end

-- The number of the nth bid.
function NUMBERS.of(nth)
  for n = #NUMBERS.gaps, 1, -1 do
    if NUMBERS.gaps[n].from <= nth then return nth + NUMBERS.gaps[n].skipped end
  end
  return nth
end

-- The number of a bid that is placed now.
function NUMBERS.next(nth)
  if NUMBERS.epoch ~= epoch_text then
    local skipped = NUMBERS.created and (epoch - NUMBERS.created) * BOUND.BIDS_MAX or 0
    local list = NUMBERS.list or ""
    if skipped > 0 then
      NUMBERS.gaps[#NUMBERS.gaps + 1] = {from = nth, skipped = skipped}
      list = list .. (list == "" and "" or ",") .. format("%d:%.0f", nth, skipped)
    end
    later("HSET", KEYS[2], "numbers", format("%s|%s|%.0f|%s", NUMBERS.created or epoch_text, epoch_text, skipped, list))
  end
  return NUMBERS.of(nth)
end

local function emit(fact)
  offset = offset + 1
  facts[#facts + 1] = fact
  return epoch * BOUND.FENCE_EPOCH + offset
end

-- The amount and the step above it.
local rungs = {}
for from, step in gmatch(ladder, "(%d+):(%d+)") do rungs[#rungs + 1] = {tonumber(from), tonumber(step)} end
local function beyond(amount)
  local n = #rungs
  while n > 1 and rungs[n][1] > amount do n = n - 1 end
  return amount + rungs[n][2]
end

local function is_reserve_met(lead)
  return lead ~= nil and (not reserve or lead.max >= reserve)
end

-- The least that another bid must offer.
local function min_next(lead, at_price)
  return lead and beyond(at_price) or start
end

-- Leader and price after a bid, whether or not it reaches the least that is asked for.
local function place(old, old_price, new)
  local lead, new_price = new, start
  if old and old.bidder == new.bidder then
    new_price = old_price
  elseif old and new.max > old.max then
    new_price = math.min(new.max, beyond(old.max))
  elseif old then
    lead, new_price = old, math.min(old.max, beyond(new.max))
  end
  -- In a replay a low bid may come late: the price stays all the same.
  new_price = math.max(new_price, old_price)
  if reserve and lead.max >= reserve then new_price = math.max(new_price, reserve) end
  return lead, new_price
end

-- Every accepted bid, in its order.
local function read_bids()
  local all = {}
  for from = 1, bids_len, CHUNK do
    local numbers = {}
    for n = from, math.min(from + CHUNK - 1, bids_len) do numbers[#numbers + 1] = decimal(NUMBERS.of(n)) end
    local records = call("HMGET", KEYS[2], unpack(numbers))
    for n = 1, #records do
      local max, at, retracted, name = match(records[n], "^(%d+)|(%d+)|(r?)|(.*)$")
      all[#all + 1] = {bid = NUMBERS.of(#all + 1), bidder = name, max = tonumber(max), at = tonumber(at),
        retracted = retracted ~= ""}
    end
  end
  return all
end

-- What the bids that stand come to, one after the other.
local function replay(bids)
  local lead, at_price = nil, 0
  for n = 1, #bids do
    if not bids[n].retracted then lead, at_price = place(lead, at_price, bids[n]) end
  end
  leader, price = lead, at_price
end

local function retract(bid)
  bid.retracted = true
  later("HSET", KEYS[2], decimal(bid.bid), decimal(bid.max) .. "|" .. decimal(bid.at) .. "|r|" .. bid.bidder)
end

-- What a retraction or a ban has come to, as its fact tells it.
local function put_replayed(fact)
  local after = {"leader_bid", leader and decimal(leader.bid) or "", "leader", leader and leader.bidder or "",
    "price_minor", decimal(price), "min_next_minor", decimal(min_next(leader, price)), "reserve_met",
    is_reserve_met(leader) and "1" or "0"}
  for n = 1, #after do fact[#fact + 1] = after[n] end
  return fact
end

local function is_banned(name)
  return call("HEXISTS", KEYS[2], "!" .. name) == 1
end
