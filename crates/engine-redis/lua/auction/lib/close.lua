-- auction/lib/close: what the clock brings about: the close, once, and the end of an award that nobody paid.
-- Only one award waits at a time: in the book of orders it has no other name than this.
local AWARD = string.rep("0", 13)

local function due_at()
  if status == "live" then return ends end
  local last = awards[#awards]
  return last and last.state == "pending" and last.till or nil
end
local due_before = due_at()

local function award_to(name, bid, cost, length)
  return {state = "pending", bid = bid and decimal(bid) or "", price = decimal(cost), till = now + length, bidder = name}
end

-- An award as a fact tells it; nobody's is empty.
local function put_award(fact, award)
  local told = {"bidder", award and award.bidder or "", "bid", award and award.bid or "", "price_minor",
    award and award.price or "", "until", award and decimal(award.till) or ""}
  for n = 1, #told do fact[#fact + 1] = told[n] end
  emit(fact)
end

local function close(how, award)
  put_award({"kind", "auction_closed", "how", how}, award)
  status, awards = "closed", {award}
  closed = {at = decimal(now), how = how, last_at = decimal(now)}
end

-- The highest maximum that stands of somebody who has had no chance and is not banned, at or above the reserve; of equal
-- ones the earlier. The price is that maximum.
local function next_award()
  local had, best = {}, nil
  for n = 1, #awards do had[awards[n].bidder] = true end
  for _, bid in ipairs(read_bids()) do
    local may = not bid.retracted and is_reserve_met(bid) and not had[bid.bidder]
    if may and (not best or bid.max > best.max) and not is_banned(bid.bidder) then best = bid end
  end
  return best and award_to(best.bidder, best.bid, best.max, BOUND.SECOND_CHANCE_MS) or nil
end

local function end_award(state, award)
  awards[#awards].state = state
  awards[#awards + 1] = award
  closed.last_at = decimal(now)
end

local function pass_on(why)
  local to = #awards <= BOUND.SECOND_CHANCES_MAX and next_award() or nil
  put_award({"kind", "award_passed", "from", awards[#awards].bidder, "why", why}, to)
  end_award(why, to)
  BOOK.goods_gone(AWARD, why == "unpaid" and "expired" or "cancelled")
end

-- Before a verb is decided; a close sets its next deadline days ahead.
local function close_due()
  local due = due_at()
  while due and now >= due do
    if status == "closed" then
      pass_on("unpaid")
    elseif not leader then
      close("no_bids")
    elseif not is_reserve_met(leader) then
      close("reserve_not_met")
    else
      close("won", award_to(leader.bidder, leader.bid, price, BOUND.PAY_MS))
    end
    due = due_at()
  end
end

-- Why it is not open; nil if it is.
local function not_open()
  if status == "cancelled" then return NO.auction_cancelled end
  if status == "closed" then return NO.over end
  if now < starts then return NO.not_started end
end

-- What is asked of everybody who wants to bid or buy, in the order of precedence.
local function may_not_bid(name, code)
  local why = not_open()
  if why then return why end
  if name == seller then return NO.seller end
  if is_banned(name) then return NO.banned end
  if code ~= currency then return NO.currency end
end

-- The price of buying at once, while that is on offer.
local function buy_now_on_offer()
  if not buy_now then return nil end
  local gone = leader ~= nil
  if policy == "a" then gone = false end
  if policy == "r" and reserve then gone = is_reserve_met(leader) end
  return not gone and buy_now or nil
end

local function buy(name, cost)
  close("bought_now", award_to(name, nil, cost, BOUND.PAY_MS))
end

-- The award that waits to be paid by this bidder and how many were before it, or why there is none.
local function pending_of(name)
  for n = 1, #awards do
    local award = awards[n]
    if award.bidder == name then
      if award.state == "pending" then return award, n - 1 end
      local is_paid = award.state == "settled" or award.state == "refunded"
      return nil, is_paid and NO.award_settled or NO.expired
    end
  end
  return nil, NO.award_unknown
end
