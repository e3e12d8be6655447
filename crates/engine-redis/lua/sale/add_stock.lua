-- add_stock: more units of a SKU.
-- ARGV   6 SKU  7 count
-- EMITS  SaleStatusChanged*, StockAdded          COST  2 reads, 2 writes
follow_schedule()
if over() then return refuse(over()) end
local sku, count = tonumber(ARGV[6]), tonumber(ARGV[7])
local of = level(sku)
if not of then return refuse_all({{"k", sku, NO.sku_unknown}}) end
if of.stock + count > BOUND.STOCK_MAX then
  return refuse_field(NO.invalid, FIELD.count, WHY.STOCK_MAX)
end
emit({"kind", "stock_added", "sku", ARGV[6], "count", ARGV[7]})
change_level(sku, "stock", count)
return done()
