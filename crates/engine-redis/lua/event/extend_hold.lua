-- extend_hold: later by an extension, never past its cap, at most as often as the event allows.
-- ARGV   6 hold  7 fence  8 buyer  9 extension_ms ("": the event's, or the hold's own length)
-- EMITS  what expires, HoldExtended          COST  5 reads, 6 writes, O(seats of the hold)
local refused = guard_hold(ARGV[6], ARGV[7])
if refused then return refused end
local named = seats_of_hold(ARGV[6])
follow_schedule()
touch_buyer(ARGV[8])
touch_seats(named)
touch_hold(ARGV[6])
if status == "cancelled" then return refuse(NO.event_cancelled) end
local held, code = own_hold(ARGV[6], ARGV[7])
if not held then return refuse(code) end
if held.extensions >= extensions_max then
  return refuse_limit(NO.extensions_used, extensions_max, held.extensions)
end
local extension = tonumber(ARGV[9]) or extension_ms or held.length
local ends = math.min(held.ends + extension, held.placed + math.max(BOUND.HOLD_CAP_MS_MIN, 2 * held.length))
if ends <= held.ends then return refuse(NO.extension_cap) end
emit({"kind", "hold_extended", "hold", held.id, "until", decimal(ends)})
due_remove("h", held)
held.ends = ends
held.extensions = held.extensions + 1
LATER.tell_after(held)
things_dirty[held.id] = true
due_add("h", held)
refresh_locks(held)
return done()
