-- create_event: an event with its chart and, unless it is a draft, where it shall be.
-- ARGV   6 epoch  7 seats  8 chart, one character a seat  then the lists: fields of the head, the areas, and each fact
-- REPLY  0 | 4 listing_exists
-- EMITS  EventCreated, ChartAdopted, StatusChanged?          COST  1 read, 4 writes, O(seats)
if layout then return {4, {2, "", ""}, epoch, offset, now, 0, {}} end
epoch = tonumber(arg())
local seats_count, chart, fields, of_areas = tonumber(arg()), arg(), list(), list()
call("DEL", KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12])
for n, area in ipairs(of_areas) do
  fields[#fields + 1] = "area:" .. (n - 1)
  fields[#fields + 1] = area
end
new_seats(seats_count, chart)
call("HSET", KEYS[1], "layout", LAYOUT, "epoch", ARGV[6], "seats", seats_count, "versions", "1|1", "queued", 0,
  "mark", 0, unpack(fields))
local facts = {}
while ARGV[at_arg] do facts[#facts + 1] = list() end
return write_new(facts)
