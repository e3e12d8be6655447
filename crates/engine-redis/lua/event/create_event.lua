-- create_event: an event with its chart and, unless it is a draft, where it shall be.
-- ARGV   6 epoch  7 seats  8 chart, one character a seat  9 status  10 rules  then the lists: fields of meta, the areas,
--        and each fact
-- REPLY  0 | 4 listing_exists | 9
-- EMITS  EventCreated, ChartAdopted, StatusChanged?          COST  3 reads, 5 writes, O(seats)
if layout then return {4, {NO.listing_exists, "", ""}, epoch, offset, now, 0, {}} end
if not is_vacant(3) then return damaged() end
epoch = tonumber(arg())
local count, chart, status, rules, fields, of_areas = tonumber(arg()), arg(), arg(), arg(), list(), list()
call("SET", KEYS[9], new_chart(count, chart))
for n, area in ipairs(of_areas) do
  fields[#fields + 1] = "area:" .. (n - 1)
  fields[#fields + 1] = area
end
call("HSET", KEYS[1], unpack(fields))
call("HSET", KEYS[2], "rules", rules)
return write_created({}, LAYOUT, format("%s|0|0|%d|1|1|%d", status, count, new_buckets(count)))
