-- ban_bidder: no bid, no buy and no second chance; while it is open the bidder's bids go, too.
-- ARGV   6 bidder  7 reason
-- EMITS  what the clock brings, BidderBanned          COST  O(bids)
local name = ARGV[6]
close_due()
if is_banned(name) then return unchanged() end
local banned = tonumber(call("HGET", KEYS[2], "banned") or 0)
if banned >= BOUND.BANNED_MAX then return refuse_limit(NO.bans_full, BOUND.BANNED_MAX, banned) end
local fact, bids, own = {"kind", "bidder_banned", "bidder", name, "reason", ARGV[7]}, nil, {}
if status == "live" then
  bids = read_bids()
  for n = 1, #bids do
    if bids[n].bidder == name and not bids[n].retracted then own[#own + 1] = bids[n] end
  end
end
later("HSET", KEYS[2], "!" .. name, "1", "banned", decimal(banned + 1))
if #own > 0 then
  for n = 1, #own do retract(own[n]) end
  replay(bids)
  put_replayed(fact)
else
  -- None of the bidder's bids was alive: nothing follows.
  for _, field in ipairs({"leader_bid", "leader", "price_minor", "min_next_minor", "reserve_met"}) do
    fact[#fact + 1] = field
    fact[#fact + 1] = ""
  end
end
emit(fact)
return done()
