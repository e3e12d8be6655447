-- create_series: a series that runs; it opens nothing by itself.
-- ARGV   6 epoch  7 rules "from|length_ms"  then the lists: fields of meta, the fact
-- REPLY  0 | 4 listing_exists | 9
-- EMITS  SeriesCreated          COST  3 reads, 4 writes
if layout then return {4, {NO.listing_exists, "", ""}, epoch, offset, now, 0, {}} end
if not is_vacant(3) then return damaged() end
epoch = tonumber(arg())
local rules, fields = arg(), list()
call("HSET", KEYS[1], unpack(fields))
call("HSET", KEYS[2], "rules", rules)
return write_created({list()}, "series", "running|0|0|0|1|0|0")
