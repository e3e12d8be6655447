-- order/lib/kept: goods that are kept for days, awards and places. Whoever pays is waited for within a quarter of an hour
-- after they first were to end; a payment that leads to nothing does not block the next one for days.
local GOODS = {is_kept = true}

-- When they first were to end: whoever ordered them before may have moved that by paying.
function GOODS.first_till(goods, name, till)
  return tonumber(BOOK.get("f:" .. goods .. name)) or till
end

function GOODS.remember(order)
  local field = "f:" .. order.goods .. order.buyer
  if not BOOK.get(field) then BOOK.set(field, decimal(order.goods_at)) end
end

-- They are taken by the book alone.
function GOODS.ordered() return nil end
function GOODS.take() end
function GOODS.give_back() end
