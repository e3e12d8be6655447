-- expire_due: the sweep of a registration: promotions that are left, then what is due; of a cancelled one every entry,
-- in the order they came.
-- ARGV   6 limit
-- EMITS  what the calendar brings, promotions, lapses, EntryCancelled*, RefundOwed*          COST  O(what is due, at most 64)
follow_schedule()
promote()
for _ = 1, math.min(tonumber(ARGV[6]), BOUND.EXPIRE_DUE_MAX) do
  local first = status == "cancelled" and call("ZRANGE", KEYS[4], 0, 0)[1]
  if first then
    local entry = living(first)
    local amount = entry.kind == "c" and entry.order ~= "" and entry.price or 0
    give_up(entry, "registration_cancelled", amount)
  else
    local entry = first_due()
    if not entry then break end
    lapse(entry)
  end
end
owe()
if #facts == 0 then return unchanged() end
return done()
