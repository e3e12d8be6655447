-- event/lib/guard: a hold that is paid is neither extended nor released; nothing is taken out of one that an order
-- has, nor is it bought without its order. The refusal, or nil.
local function opens(id, fence)
  local held = hold_of(id)
  return held and held.fence == tonumber(fence) and now < held.ends
end

-- The fact that changes a hold, the last one, says how it leaves it: the answer to it is the whole hold.
function LATER.tell_after(held)
  local fact = facts[#facts]
  fact[#fact + 1] = "after"
  fact[#fact + 1] = format("%.0f|%.0f|%d|%d|%s|%s|%s", held.placed, held.ends, held.extensions, held.offered and 1 or 0,
    write_lines(held.seats, held.prices), write_area_lines(held.areas), held.buyer)
end

local function guard_hold(id, fence, is_whole)
  local order = BOOK.get("g:" .. id)
  if not order or not opens(id, fence) then return nil end
  if is_paid_now(order) then return refuse_order(NO.hold_paying, order) end
  if is_whole then return refuse_order(NO.already_ordered, order) end
end
