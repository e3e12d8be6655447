-- block_seats: takes seats, and free places of areas, off sale; a held or sold seat comes back blocked.
-- ARGV   6 seats  7 areas  8 reason
-- EMITS  what expires, SeatsBlocked          COST  5 reads, 4 writes, O(seats)
local named, away = numbers(ARGV[6]), counts(ARGV[7])
follow_schedule()
touch_seats(named)
for n = 1, #away do touch_area(away[n][1], away[n][2]) end
local refused = known_places(named, away)
if refused then return refused end
local full = {}
for n = 1, #away do
  if available(area_of(away[n][1])) < away[n][2] then full[#full + 1] = {"a", away[n][1], NO.area_full} end
end
if #full > 0 then return refuse_all(full) end
local fresh = changed(named, true)
if #fresh == 0 and #away == 0 then return unchanged() end
emit({"kind", "seats_blocked", "seats", table.concat(fresh, ","), "areas", ARGV[7], "reason", ARGV[8]})
set_blocked(fresh, true)
for n = 1, #fresh do dissolve(fresh[n]) end
for n = 1, #away do change_area(away[n][1], "blocked", away[n][2]) end
return done()
