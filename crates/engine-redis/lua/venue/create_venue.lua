-- create_venue: a name, a place and the first layout.
-- ARGV   6 epoch  7 layout  then the lists: fields of the head, and each fact
-- REPLY  0 | 4 listing_exists | 9
-- EMITS  VenueCreated, LayoutPublished          COST  3 reads, 4 writes
if layout then return {4, {NO.listing_exists, "", ""}, epoch, offset, now, 0, {}} end
if not is_vacant(3) then return damaged() end
epoch = tonumber(arg())
local first_layout, fields = arg(), list()
call("HSET", KEYS[1], unpack(fields))
call("HSET", KEYS[5], 1, first_layout)
return write_created({}, "venue", "|0|0|0|0|1|0")
