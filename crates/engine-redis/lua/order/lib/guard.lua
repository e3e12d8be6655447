-- order/lib/guard: what an order has taken is nobody else's to change; asked before anything else is looked at.
-- Whether the book has this order: what was over for an hour when an order last changed is forgotten.
local function is_booked(id)
  local text = BOOK.get("b:" .. id)
  if not text then return false end
  local to, at = match(text, "^(%l+)|(%d*)|")
  local fading = (to == "expired" or to == "cancelled") and not string.find(text, "\n", 1, true)
  return not fading or at + BOUND.ENDED_MS > tonumber(BOOK.get("book"))
end

local function is_paid_now(order)
  return match(BOOK.get("b:" .. order), "^paying|") ~= nil
end
