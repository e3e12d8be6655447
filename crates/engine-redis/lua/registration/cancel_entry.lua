-- cancel_entry: the place goes on to the first in line in the same step; who registers again is the last.
-- ARGV   6 entry  7 "1": a buyer asks, "0": staff  8 buyer
-- EMITS  what the calendar brings, lapses, EntryCancelled, promotions, RefundOwed*          COST  6 reads, 6 writes
local name = ARGV[7] == "1" and ARGV[8] or nil
local refused = guard_leaving(ARGV[6], name)
if refused then return refused end
follow_schedule()
expire_touched(name, ARGV[6])
if status == "cancelled" then return refuse(NO.registration_cancelled) end
local entry, why = own_entry(ARGV[6], name)
if not entry then return refuse(why) end
local cause, amount = "staff", entry.kind == "c" and entry.order ~= "" and entry.price or 0
if name then
  if status == "started" then return refuse(NO.registration_closed) end
  cause = "buyer"
  -- Nobody can take the place after the cut-off, so it stays paid.
  if status == "closed" then amount = 0 end
end
give_up(entry, cause, amount)
promote()
owe()
return done()
