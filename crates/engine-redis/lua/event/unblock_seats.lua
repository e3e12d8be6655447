-- unblock_seats: puts seats and places back on sale.
-- ARGV   6 seats  7 areas
-- EMITS  what expires, SeatsUnblocked          COST  5 reads, 4 writes, O(seats)
local named, away = numbers(ARGV[6]), counts(ARGV[7])
follow_schedule()
touch_seats(named)
local refused = known_places(named, away)
if refused then return refused end
for n = 1, #away do
  if area_of(away[n][1]).blocked < away[n][2] then
    local field = string.gsub(FIELD.areas_n_count, "%[%]", "[" .. (n - 1) .. "]")
    return refuse_field(NO.invalid, field, "not more places than are blocked")
  end
end
local fresh = changed(named, false)
if #fresh == 0 and #away == 0 then return unchanged() end
emit({"kind", "seats_unblocked", "seats", table.concat(fresh, ","), "areas", ARGV[7]})
set_blocked(fresh, false)
for n = 1, #away do change_area(away[n][1], "blocked", -away[n][2]) end
return done()
