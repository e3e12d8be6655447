-- withdraw_stock: takes units off the sale that nobody has; what is due makes room first.
-- ARGV   6 SKU  7 count
-- EMITS  SaleStatusChanged*, CheckoutExpired*, StockWithdrawn          COST  3 reads, 2 writes
follow_schedule()
local sku, count = tonumber(ARGV[6]), tonumber(ARGV[7])
expire_touched(nil, nil, {{sku, count}})
if over() then return refuse(over()) end
local of = level(sku)
if not of then return refuse_all({{"k", sku, NO.sku_unknown}}) end
if available(of) < count then return refuse_all({{"k", sku, NO.not_enough_stock}}) end
emit({"kind", "stock_withdrawn", "sku", ARGV[6], "count", ARGV[7]})
change_level(sku, "stock", -count)
return done()
