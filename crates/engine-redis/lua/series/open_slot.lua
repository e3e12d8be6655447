-- open_slot: a slot has its sale, once, whoever asks; those before it that nobody opened are recorded.
-- ARGV   6 version of the details that the caller knew  7 field that is off the schedule, which never changes ("": none)
--        8 why  9 the slot "at:ahead"  10 its sale  11 those skipped, in order
-- REPLY  0 | 1 it was opened before | 4 | 5
-- EMITS  SlotSkipped*, SlotOpened          COST  3 reads, 5 writes, O(slots)
if details_version == "0" or ARGV[6] == "0" then return retry("versions") end
if ARGV[7] ~= "" then return refuse_field(NO.invalid, ARGV[7], ARGV[8]) end
local slot, skipped = read_slots(ARGV[9])[1], read_slots(ARGV[11])
for n = #slots, 1, -1 do
  if slots[n].at == slot.at then
    if slots[n].opened then return unchanged() end
    break
  end
end
if status == "paused" then return refuse(NO.series_paused) end
if status == "ended" then return refuse(NO.series_ended) end
if #skipped > 0 and not is_after(slot, skipped[#skipped]) then
  return refuse_field(NO.invalid, FIELD.slot, "later than those that were skipped")
end
if not in_order(skipped[1] or slot) then return refuse(NO.slot_past) end
if now < slot.at - BOUND.SLOT_EARLY_MS then return refuse(NO.slot_early) end
if now >= slot.at + length then return refuse(NO.slot_past) end
for n = 1, #skipped do skip(skipped[n]) end
emit({"kind", "slot_opened", "slot", slot.text, "sale", ARGV[10]})
remember(slot, format("%.0f:", slot.at + length))
-- What the sales of the last two are made from, should somebody still have to make them.
local before = call("HGET", KEYS[2], "ready:2")
if before then changes["ready:1"] = before end
changes["ready:2"] = slot.text .. "|" .. call("HGET", KEYS[1], "template")
return done()
