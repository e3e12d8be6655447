-- sale/lib/guard: a code in an order is bought, returned and taken back by the order alone. The refusal, or nil;
-- `name` is whoever must have the code for that to matter.
local function guard_code(id, order, name)
  if name then
    local code = own_code(id, name)
    if not code or now >= code.till then return nil end
  end
  local taken = BOOK.get("g:" .. id)
  if taken then return refuse_order(NO.checkout_ordered, taken) end
  if is_booked(order) then return refuse_order(NO.id_taken, order) end
end
