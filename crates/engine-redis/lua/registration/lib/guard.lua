-- registration/lib/guard: a place in an order is confirmed by the order alone, and not given up while it is paid; staff may
-- take it away, and the money then goes back. The refusal, or nil.
-- The order that has taken this buyer's place, if it is still kept for them.
local function order_of_place(id, name)
  local order, entry = BOOK.get("g:" .. id), living(id)
  if order and entry.kind == "o" and now < entry.till and entry.buyer == name then return order end
end

local function guard_entry(id, name, order)
  local own = order_of_place(id, name)
  if own then return refuse_order(NO.already_ordered, own) end
  -- Told again, a confirmation that an order brought about is the same answer.
  if not BOOK.get("e:" .. id) and is_booked(order) then return refuse_order(NO.id_taken, order) end
end

local function guard_leaving(id, name)
  local own = name and order_of_place(id, name)
  if own and is_paid_now(own) then return refuse_order(NO.order_paying, own) end
end
