-- add_sku: one more thing on sale, checked by the caller against those it knew.
-- ARGV   6 how many SKUs it knew  7 field that breaks a bound ("": none)  8 why  9 "stock|0|0|price"  10 what meta has of
--        it  then the fact
-- REPLY  0 | 4 | 5
-- EMITS  SaleStatusChanged*, SkuAdded          COST  2 reads, 3 writes
if tonumber(ARGV[6]) ~= skus_len then return retry("skus") end
follow_schedule()
if over() then return refuse(over()) end
if ARGV[7] ~= "" then return refuse_field(NO.invalid, ARGV[7], ARGV[8]) end
meta_changes["sku:" .. skus_len] = ARGV[10]
later("HSET", KEYS[2], "sku:" .. skus_len, ARGV[9])
skus_len = skus_len + 1
at_arg = 11
emit(list())
return done()
