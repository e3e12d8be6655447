-- auction/lib/guard: an award in an order is settled by the order alone (`order` is who else would), and not turned
-- down while it is paid. The refusal, or nil.
local function guard_award(name, order)
  local due, own = status == "closed" and due_at(), BOOK.get("g:" .. AWARD)
  local is_kept = own and due and now < due and awards[#awards].bidder == name
  if order then
    if is_kept then return refuse_order(NO.already_ordered, own) end
    if is_booked(order) then return refuse_order(NO.id_taken, order) end
  elseif is_kept and is_paid_now(own) then
    return refuse_order(NO.order_paying, own)
  end
end
