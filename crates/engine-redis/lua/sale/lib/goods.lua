-- sale/lib/goods: what an order needs of a sale: the code it takes, more time for it, its purchase, and lines taken back.
local GOODS = {kind = "checkout"}

-- Expires the code, and whatever else its buyer's own command about it would.
function GOODS.expire(id, name)
  follow_schedule()
  expire_touched(name, id)
end

-- Why nothing can be bought any more.
function GOODS.cancelled()
  return status == "cancelled" and NO.sale_cancelled or nil
end

-- What this buyer's code has reserved: lines, units, price, when it was placed.
function GOODS.own(id, name)
  local code, why = own_code(id, name)
  if not code then return nil, why end
  return {lines = write_lines(code.lines), areas = "", units = units(code.lines), total = total(code.lines),
    placed = code.placed}
end

-- Whether an order outside of the book has taken the code, and which.
function GOODS.ordered(id)
  local taken = code_of(id).order
  if taken ~= "" then return NO.checkout_ordered, taken end
end

-- A code says itself that it is taken; nothing is pinned before somebody pays.
function GOODS.take(id, order)
  local code = code_of(id)
  emit({"kind", "checkout_ordered", "checkout", id, "order", order, "until", decimal(code.till)})
  reschedule(code, order, code.till)
end

function GOODS.give_back(order)
  local code = code_of(order.goods)
  local till = math.max(code.till, math.min(now + BOUND.DECLINED_MS, code.placed + BOUND.ORDERED_MS_MAX))
  emit({"kind", "checkout_returned", "checkout", code.id, "until", decimal(till)})
  reschedule(code, "", till)
end

function GOODS.knows(order) return purchase_of_order(order) ~= nil end

function GOODS.till(id)
  local code = code_of(id)
  return code and code.till
end

function GOODS.pin(id, till)
  local code = code_of(id)
  reschedule(code, code.order, till)
end

function GOODS.confirm(order, came)
  local code = code_of(order.goods)
  local fence = emit({"kind", "purchased", "checkout", code.id, "order", order.id})
  take_code(code)
  add_purchase(code.id, order.id, code.buyer, code.lines, fence)
  confirm_order(order.id, came)
end

-- Late money: only an empty shelf stands in the way, or the code's own new life.
function GOODS.take_back(order, came)
  local lines = read_lines(order.lines)
  follow_schedule()
  expire_touched(order.buyer, order.goods, lines)
  if purchase_of(order.goods) or code_of(order.goods) or purchase_of_order(order.id) then return false end
  if #unknown_skus(lines) > 0 or #obstacles(lines) > 0 then return false end
  local fence = emit({"kind", "purchase_taken_back", "checkout", order.goods, "order", order.id, "buyer", order.buyer,
    "lines", order.lines})
  add_purchase(order.goods, order.id, order.buyer, lines, fence)
  confirm_order(order.id, came)
  return true
end
