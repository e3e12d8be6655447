-- event/lib/refund: takes seats and places out of an order and gives them back.
local function refund(order, refunded, away, amount, reason)
  local gone = {}
  for n = 1, #refunded do gone[refunded[n]] = true end
  local pairs_of = {}
  for n = 1, #away do pairs_of[n] = away[n][1] .. ":" .. away[n][2] end
  emit({"kind", "order_refunded", "order", order.id, "seats", table.concat(refunded, ","), "areas",
    table.concat(pairs_of, ","), "amount_minor", decimal(amount), "reason", reason})
  local kept, costs, count = {}, {}, #refunded
  for n = 1, #order.seats do
    if not gone[order.seats[n]] then
      kept[#kept + 1] = order.seats[n]
      costs[#costs + 1] = order.prices[n]
    end
  end
  for n = 1, #away do
    count = count + away[n][2]
    change_area(away[n][1], "sold", -away[n][2])
    take_places(order.areas, away[n][1], away[n][2])
  end
  order.seats, order.prices = kept, costs
  orders_dirty[order.id] = true
  if #kept == 0 and #order.areas == 0 then open_changes[order.id] = false end
  for n = 1, #refunded do change_seat(refunded[n], 0, nil) end
  local buyer = intern(order.buyer)
  buyer.sold = buyer.sold - count
end

local function refund_all(order, reason)
  local all, away, named, amount = {}, {}, {}, 0
  for n = 1, #order.seats do
    all[n] = order.seats[n]
    amount = amount + order.prices[n]
  end
  for n = 1, #order.areas do
    local index, count, price = unpack(order.areas[n])
    if not named[index] then
      named[index] = {index, 0}
      away[#away + 1] = named[index]
    end
    named[index][2] = named[index][2] + count
    amount = amount + count * price
  end
  refund(order, all, away, amount, reason)
end
