-- adopt_chart: another chart for the same event; what is held or sold may not vanish.
-- ARGV   6 versions of the details and the chart it was made from  7 "" | "field"  8 field  9 why
--        10 seats that go  11 seats  12 chart, one character a seat  then the lists: fields of meta,
--        every area as "capacity|tier|retired", the fact
-- REPLY  0 | 4 | 5
-- EMITS  what expires, ChartAdopted          COST  O(seats that go, and the chart itself)
if details_version .. "|" .. chart_version ~= ARGV[6] then return retry("versions") end
at_arg = 13
local gone, fields, next_areas = numbers(ARGV[10]), list(), list()
for n = 1, #next_areas do
  local capacity, tier, retired = match(next_areas[n], "^(%d+)|(%d+)|(%d)$")
  next_areas[n] = {capacity = tonumber(capacity), tier = tonumber(tier), retired = retired == "1"}
end
follow_schedule()
load_seats(gone)
local due = {}
for n = 1, #gone do
  local state = seat(gone[n])
  if state.grip == 1 and now >= hold_of(state.by).ends then due[#due + 1] = gone[n] end
end
touch_seats(due)
for n = 1, #next_areas do
  local area = area_of(n - 1)
  local lost = area and area.capacity - (next_areas[n].retired and 0 or next_areas[n].capacity) or 0
  if lost > 0 then touch_area(n - 1, lost) end
end
if status == "completed" or status == "cancelled" then return refuse(NO.status_conflict) end
if ARGV[7] == "field" then return refuse_field(NO.invalid, ARGV[8], ARGV[9]) end
local in_use = {}
for n = 1, #gone do
  if seat(gone[n]).grip > 0 then in_use[#in_use + 1] = {"s", gone[n], NO.seat_in_use} end
end
for n = 1, #next_areas do
  local area, capacity = area_of(n - 1), next_areas[n].retired and 0 or next_areas[n].capacity
  if area and area.held + area.sold + area.blocked > capacity then
    in_use[#in_use + 1] = {"a", n - 1, NO.seat_in_use}
  end
end
if #in_use > 0 then return refuse_all(in_use) end
emit(list())
for n = 1, #next_areas do
  local area, into = area_of(n - 1), next_areas[n]
  into.held, into.sold, into.blocked = area and area.held or 0, area and area.sold or 0, area and area.blocked or 0
  into.capacity = into.retired and 0 or into.capacity
  areas[n - 1] = into
  areas_dirty[n - 1] = true
end
for n = 1, #fields, 2 do meta_changes[fields[n]] = fields[n + 1] end
chart_version = chart_version + 1
resize_seats(tonumber(ARGV[11]), ARGV[12])
return done()
