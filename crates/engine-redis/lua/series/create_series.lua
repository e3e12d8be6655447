-- create_series: a series that runs; it opens nothing by itself.
-- ARGV   6 epoch  7 rules "from|length_ms"  then the lists: fields of meta, the fact
-- REPLY  0 | 4 listing_exists
-- EMITS  SeriesCreated          COST  1 read, 4 writes
if layout then return {4, {NO.listing_exists, "", ""}, epoch, offset, now, 0, {}} end
epoch = tonumber(arg())
local rules, fields = arg(), list()
-- First what a server without memory refuses: behind a DEL it would refuse nothing more.
call("HSET", KEYS[1], unpack(fields))
call("DEL", KEYS[1], KEYS[2], KEYS[10])
call("HSET", KEYS[1], unpack(fields))
call("HSET", KEYS[2], "rules", rules)
return write_new({list()}, "series", "running|0|0|0|1|0|0")
