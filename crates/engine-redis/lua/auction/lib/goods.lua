-- auction/lib/goods: what an order needs of an auction: the award it takes, more time for it, and its sale.
GOODS.kind = "award"

function GOODS.expire() close_due() end

-- A closed auction is no longer cancelled, and an open one has no award.
function GOODS.cancelled() return nil end

function GOODS.own(goods, name)
  local award, why = pending_of(name)
  if not award then return nil, why end
  return {lines = award.price, areas = "", units = 1, total = tonumber(award.price),
    placed = GOODS.first_till(goods, name, award.till)}
end

function GOODS.knows() return false end

function GOODS.till() return status == "closed" and due_at() or nil end

-- An award never ends earlier for it.
function GOODS.pin(_, till)
  local last = awards[#awards]
  last.till = math.max(last.till, till)
end

local function settle(order, cost, came)
  emit({"kind", "award_settled", "bidder", order.buyer, "price_minor", cost, "order", order.id})
  end_award("settled")
  confirm_order(order.id, came)
end

function GOODS.confirm(order, came) settle(order, awards[#awards].price, came) end

-- Late money: what this bidder did not pay in time went to nobody else.
function GOODS.take_back(order, came)
  local last = awards[#awards]
  if not last or last.bidder ~= order.buyer or last.state ~= "unpaid" then return false end
  settle(order, order.lines, came)
  return true
end
