-- order/lib/paying: how any verb finds the order that its caller may act on.
-- The order of this id, if it is this buyer's; nil and the code that says why not.
local function own_order(id, name)
  local order = read_order(id)
  if not order then return nil, NO.order_unknown end
  if order.buyer ~= name then return nil, NO.not_yours end
  return order
end

-- Why nothing can be done about an order that is not waiting for its buyer; nil if it is.
local NOT_PENDING = {paying = NO.order_paying, confirmed = NO.order_confirmed, refunded = NO.order_confirmed,
  expired = NO.expired, cancelled = NO.order_cancelled}
