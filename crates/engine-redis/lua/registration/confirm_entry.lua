-- confirm_entry: a place that was kept for its buyer is paid.
-- ARGV   6 entry  7 buyer  8 order  9 "1": somebody who may say so says that it is paid
-- REPLY  0 | 4 | 8 already registered
-- EMITS  what the calendar brings, lapses, RegistrationConfirmed          COST  5 reads, 6 writes
local order = ARGV[8]
local refused = guard_entry(ARGV[6], ARGV[7], order)
if refused then return refused end
follow_schedule()
expire_touched(ARGV[7], ARGV[6])
if status == "cancelled" then return refuse(NO.registration_cancelled) end
local entry, why = own_entry(ARGV[6], ARGV[7])
if not entry then return refuse(why) end
if entry.kind == "w" then return refuse(NO.not_offered) end
if entry.kind == "c" then
  if entry.order ~= "" and entry.order ~= order then return refuse_order(NO.entry_confirmed, entry.order) end
  return already_registered(entry)
end
if ARGV[9] ~= "1" and entry.price > 0 then return refuse(NO.payment_required) end
if call("HEXISTS", KEYS[5], order) == 1 then return refuse_order(NO.id_taken, order) end
emit({"kind", "registration_confirmed", "entry", entry.id, "order", order})
step_to(entry, "c", {order = order, at = now})
promote()
return done()
