-- place_bid: a maximum, up to which the house bids for its owner. The order of the checks is the order of precedence.
-- ARGV   6 bidder  7 max  8 currency
-- REPLY  0 | 4
-- EMITS  what the clock brings, BidPlaced with the end that it may have moved, or AuctionClosed if it buys
-- COST   4 reads, 4 writes, however many have bid
local name, max = ARGV[6], tonumber(ARGV[7])
close_due()
local why = may_not_bid(name, ARGV[8])
if why then return refuse(why) end
if max % tick ~= 0 then return refuse(NO.off_tick) end
local offer = buy_now_on_offer()
if offer and max >= offer then
  buy(name, offer)
  return done()
end
local own = leader ~= nil and leader.bidder == name
if own and max <= leader.max then return refuse(NO.leader_not_raising) end
local least = min_next(leader, price)
if max < least then return answer(4, {NO.bid_too_low, "", "min_next", decimal(least)}) end
if bids_len >= BOUND.BIDS_MAX then return refuse_limit(NO.bids_full, BOUND.BIDS_MAX, BOUND.BIDS_MAX) end

-- A bid in the last seconds moves the end; a leader's higher maximum does not.
local function end_after()
  if not window or ends - now > window then return ends end
  local all = {}
  for length in gmatch(extension_list, "%d+") do all[#all + 1] = tonumber(length) end
  local length = all[math.min(extensions + 1, #all)]
  local moved = math.min(original + cap, (mode == "r" and now or ends) + length)
  return math.max(ends, moved)
end

bids_len = bids_len + 1
local number = NUMBERS.next(bids_len)
leader, price = place(leader, price, {bid = number, bidder = name, max = max})
local new_ends = own and ends or end_after()
if new_ends ~= ends then ends, extensions = new_ends, extensions + 1 end
later("HSET", KEYS[2], decimal(number), decimal(max) .. "|" .. decimal(now) .. "||" .. name)
local after = {leader.bid == number and "1" or "0", decimal(price), decimal(min_next(leader, price)),
  is_reserve_met(leader) and "1" or "0", decimal(ends)}
emit({"kind", "bid_placed", "bid", decimal(number), "bidder", name, "max_minor", decimal(max), "after",
  table.concat(after, "|")})
return done()
