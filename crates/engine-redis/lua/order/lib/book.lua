-- order/lib/book: the orders of a listing, whatever its goods are. An order is one text, a payment a line of it:
--   status|closed|settled|fence|placed|returned units|returned|price of the goods|fees|currency|paid by|kind of goods|
--   goods|their placing|lines|areas|buyer
--   payment|fence|amount|until|captured|declined|has method|refunds|reason, tab, reference, tab, method
-- with refunds as fence:amount:why:paid. It is read anew after whatever may have changed it.
-- So many orders that are over for long are removed in one step.
local FORGOTTEN_AT_ONCE = 64

-- Blocks keep names to themselves: a script has room for 200.
local read_order, write_order, confirm_order, owe
do
  local function read_payment(line)
    local id, fence, amount, till, captured, declined, has_method, refunds, reason, reference, method =
      match(line, "^(%w+)|(%d+)|(%d+)|(%d+)|(%d*)|(%d)|(%d)|([%w:,]*)|([^\t]*)\t([^\t]*)\t(.*)$")
    local payment = {id = id, fence = fence, amount = tonumber(amount), till = till, captured = tonumber(captured),
      declined = declined, has_method = has_method, refunds = {}, reason = reason, reference = reference, method = method}
    for owed, back, why, paid in gmatch(refunds, "(%d+):(%d+):(%l+):(%d)") do
      payment.refunds[#payment.refunds + 1] = {fence = owed, amount = tonumber(back), why = why, paid = paid}
    end
    return payment
  end

  function read_order(id)
    if not is_booked(id) then return nil end
    local order = {id = id, payments = {}}
    for line in gmatch(BOOK.get("b:" .. id), "[^\n]+") do
      if order.status then
        order.payments[#order.payments + 1] = read_payment(line)
      else
        order.status, order.closed, order.settled, order.fence, order.placed, order.returned_units, order.returned,
          order.goods_minor, order.fee_minor, order.currency, order.paid_by, order.kind, order.goods, order.goods_at,
          order.lines, order.areas, order.buyer = match(line, "^(%l+)|(%d*)|(%d)|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|"
            .. "(%u+)|(%w*)|(%l+)|(%w+)|(%d+)|([%d:,]*)|([%d:,]*)|(.*)$")
        order.returned_units, order.returned = tonumber(order.returned_units), tonumber(order.returned)
        order.total = order.goods_minor + order.fee_minor
        order.goods_at = tonumber(order.goods_at)
      end
    end
    return order
  end

  function write_order(order)
    local lines = {format("%s|%s|%s|%s|%s|%d|%.0f|%s|%s|%s|%s|%s|%s|%.0f|%s|%s|%s", order.status, order.closed,
      order.settled, order.fence, order.placed, order.returned_units, order.returned, order.goods_minor, order.fee_minor,
      order.currency, order.paid_by, order.kind, order.goods, order.goods_at, order.lines, order.areas, order.buyer)}
    for _, payment in ipairs(order.payments) do
      local refunds = {}
      for n, refund in ipairs(payment.refunds) do
        refunds[n] = format("%s:%.0f:%s:%s", refund.fence, refund.amount, refund.why, refund.paid)
      end
      lines[#lines + 1] = format("%s|%s|%.0f|%s|%s|%s|%s|%s|%s\t%s\t%s", payment.id, payment.fence, payment.amount,
        payment.till, payment.captured and decimal(payment.captured) or "", payment.declined, payment.has_method,
        table.concat(refunds, ","), payment.reason, payment.reference, payment.method)
    end
    BOOK.set("b:" .. order.id, table.concat(lines, "\n"))
  end
end

local function payment_of(order, id)
  for _, payment in ipairs(order.payments) do
    if payment.id == id then return payment end
  end
end

-- Takes the next offset for a fact about an order. The time of such a fact decides what is forgotten.
local function emit_order(fact)
  if BOOK.get("book") ~= decimal(now) then
    BOOK.set("book", decimal(now))
    local over = call("ZRANGEBYSCORE", KEYS[6], decimal(BOUND.ENDED_MS - now), "(0", "LIMIT", 0, FORGOTTEN_AT_ONCE)
    for n = 1, #over do
      BOOK.set("b:" .. over[n], false)
      open_changes[over[n]] = false
    end
  end
  return emit(fact)
end

do
  -- How many units a text of seats, places or lines has: each of "12:700" is one, of "3:2" or "3:2:700" two.
  local function count_units(text, is_counted)
    local units = 0
    for one in gmatch(text, "[^,]+") do units = units + (is_counted and tonumber(match(one, "^%d+:(%d+)")) or 1) end
    return units
  end

  local function units_of(order)
    return count_units(order.lines, order.kind ~= "hold") + count_units(order.areas, true)
  end

  -- The goods are sold, with the money that came in this very step.
  function confirm_order(id, came)
    local order = read_order(id)
    order.status, order.closed = "confirmed", decimal(now)
    order.paid_by = order.settled == "1" and "" or came or ""
    BOOK.set("g:" .. order.goods, false)
    write_order(order)
  end

  -- Goods came back: the last of them takes the fees along.
  local function return_goods(id, fact)
    local order = read_order(id)
    if not order then return end
    local kind, amount = field(fact, "kind"), field(fact, "amount_minor")
    if kind == "entry_cancelled" then
      -- After the cut-off a place stays paid.
      if amount == "0" then return end
      order.returned_units = order.returned_units + 1
    elseif kind == "award_refunded" then
      order.returned_units = field(fact, "left_minor") == "0" and 1 or 0
    elseif kind == "order_refunded" then
      order.returned_units = order.returned_units + count_units(field(fact, "seats"))
        + count_units(field(fact, "areas"), true)
    else
      order.returned_units = order.returned_units + count_units(field(fact, "lines"), true)
    end
    order.returned = order.returned + amount
    if order.returned_units == units_of(order) then order.status, order.closed = "refunded", decimal(now) end
    write_order(order)
  end

  local function why_owed(order, payment)
    if order.paid_by == payment.id then
      return (order.returned_units > 0 or order.returned > 0) and "returned" or "amount"
    end
    if order.status == "confirmed" or order.status == "refunded" then return "twice" end
    return payment.captured and payment.captured < payment.amount and "amount" or "late"
  end

  -- Of a captured payment, all that no confirmed order keeps is owed back.
  local function owe_payment(order, payment)
    local owed = payment.captured or 0
    for _, refund in ipairs(payment.refunds) do owed = owed - refund.amount end
    if order.paid_by == payment.id and order.status == "confirmed" then owed = owed - (order.total - order.returned) end
    if owed <= 0 then return end
    local why = why_owed(order, payment)
    local fence = emit_order({"kind", "refund_owed", "order", order.id, "payment", payment.id, "refund",
      format("%d", #payment.refunds + 1), "amount_minor", decimal(owed), "why", why})
    payment.refunds[#payment.refunds + 1] = {fence = decimal(fence), amount = owed, why = why, paid = "0"}
  end

  -- Writes down what the facts of this step leave to be paid back; every script that returns goods or notes money ends so.
  local MOVES_MONEY = {order_refunded = true, purchase_refunded = true, payment_captured = true, entry_cancelled = true,
    award_refunded = true}
  function owe()
    local touched, count = {}, #facts
    for n = 1, count do
      local fact = facts[n]
      local kind = field(fact, "kind")
      if MOVES_MONEY[kind] then
        local id = field(fact, "order")
        if kind == "entry_cancelled" then id = BOOK.get("e:" .. field(fact, "entry")) end
        if id and kind ~= "payment_captured" then return_goods(id, fact) end
        if id and touched[#touched] ~= id then touched[#touched + 1] = id end
      end
    end
    for n = 1, #touched do
      local order = read_order(touched[n])
      if order and #order.payments > 0 then
        for _, payment in ipairs(order.payments) do owe_payment(order, payment) end
        write_order(order)
      end
    end
  end
end
