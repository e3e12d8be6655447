-- create_sale: a sale with its SKUs; it is open at once if its hour has come.
-- ARGV   6 epoch  7 starts_at  8 ends_at  9 rules  then the lists: fields of meta, the SKUs "stock|0|0|price", the fact
-- REPLY  0 | 4 listing_exists, invalid | 9
-- EMITS  SaleCreated, SaleStatusChanged?          COST  3 reads, 5 writes, O(SKUs)
if layout then return {4, {NO.listing_exists, "", ""}, epoch, offset, now, 0, {}} end
if not is_vacant(3) then return damaged() end
epoch = tonumber(arg())
local starts, ends, rules, fields, skus = tonumber(arg()), tonumber(arg()), arg(), list(), list()
if now >= ends then return {4, {NO.invalid, "", "field", FIELD.ends_at, "in the future"}, 0, 0, now, 0, {}} end
call("HSET", KEYS[1], unpack(fields))
call("HSET", KEYS[2], "rules", rules)
for n = 1, #skus do call("HSET", KEYS[2], "sku:" .. (n - 1), skus[n]) end
local facts, status, mark = {list()}, "scheduled", starts
if now >= starts then
  status, mark = "open", ends
  facts[2] = {"kind", "sale_status_changed", "status", status, "by_schedule", "1"}
end
call("SET", KEYS[11], format("%.0f", mark), "PX", format("%.0f", mark - now))
return write_created(facts, "sale", format("%s|%s|%.0f|%d|1|0|0", status, match(rules, "^%d+|%d+|(%d+)|"), mark, #skus))
