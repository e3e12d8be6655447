-- create_venue: a name, a place and the first layout.
-- ARGV   6 epoch  7 layout  then the lists: fields of the head, and each fact
-- REPLY  0 | 4 listing_exists
-- EMITS  VenueCreated, LayoutPublished          COST  1 read, 5 writes
if layout then return {4, {NO.listing_exists, "", ""}, epoch, offset, now, 0, {}} end
epoch = tonumber(arg())
local first_layout, fields = arg(), list()
-- First what a server without memory refuses: behind a DEL it would refuse nothing more.
call("SET", KEYS[5], first_layout)
call("DEL", KEYS[1], KEYS[2], KEYS[5], KEYS[10])
call("HSET", KEYS[1], unpack(fields))
call("HSET", KEYS[5], 1, first_layout)
local facts = {}
while ARGV[at_arg] do facts[#facts + 1] = list() end
return write_new(facts, "venue", "|0|0|0|0|1|0")
