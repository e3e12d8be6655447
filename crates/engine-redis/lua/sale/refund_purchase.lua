-- refund_purchase: wholly or in part; the units return to the shelf, or are written off.
-- ARGV   6 order  7 lines "3:1" ("": all that is left)  8 "1": the units can be sold again  9 reason
-- EMITS  SaleStatusChanged*, PurchaseRefunded, RefundOwed*          COST  4 reads, 5 writes, O(lines)
follow_schedule()
local bought, restock = purchase_of_order(ARGV[6]), ARGV[8] == "1"
if not bought then return refuse(NO.order_unknown) end
if units_left(bought) == 0 then return refuse(NO.not_refundable) end
if ARGV[7] == "" then
  refund_all(bought, restock, ARGV[9])
  owe()
  return done()
end
local away, amount, foreign = read_counts(ARGV[7]), 0, {}
for _, one in ipairs(away) do
  local price
  for n = 1, #bought.lines do
    if bought.lines[n][1] == one[1] and left_of(bought, n) >= one[2] then price = bought.lines[n][3] end
  end
  if price then
    amount = amount + price * one[2]
  else
    foreign[#foreign + 1] = {"k", one[1], NO.not_refundable}
  end
end
if #foreign > 0 then return refuse_all(foreign) end
refund(bought, away, amount, restock, ARGV[9])
owe()
return done()
