-- change_price: for checkouts from now on; a code keeps its price.
-- ARGV   6 SKU  7 price  8 field of the price, if it breaks a bound ("": it does not)  9 why
-- EMITS  SaleStatusChanged*, PriceChanged          COST  2 reads, 2 writes
follow_schedule()
if over() then return refuse(over()) end
local sku = tonumber(ARGV[6])
local of = level(sku)
if not of then return refuse_all({{"k", sku, NO.sku_unknown}}) end
if ARGV[8] ~= "" then return refuse_field(NO.invalid, ARGV[8], ARGV[9]) end
if of.price == tonumber(ARGV[7]) then return unchanged() end
emit({"kind", "price_changed", "sku", ARGV[6], "price_minor", ARGV[7]})
of.price = tonumber(ARGV[7])
levels_dirty[sku] = true
return done()
