-- skip_slots: records slots that nobody opened in time.
-- ARGV   6 version of the details that the caller knew  7 field that is off the schedule ("": none)  8 why  9 the slots
-- REPLY  0 | 4 | 5
-- EMITS  SlotSkipped*          COST  2 reads, 3 writes, O(slots)
if details_version == "0" or ARGV[6] == "0" then return retry("versions") end
if ARGV[7] ~= "" then return refuse_field(NO.invalid, ARGV[7], ARGV[8]) end
if status == "ended" then return refuse(NO.series_ended) end
local skipped = read_slots(ARGV[9])
if not in_order(skipped[1]) then return refuse(NO.slot_past) end
-- What has not begun can still be opened.
if now < skipped[#skipped].at then return refuse(NO.slot_early) end
for n = 1, #skipped do skip(skipped[n]) end
return done()
