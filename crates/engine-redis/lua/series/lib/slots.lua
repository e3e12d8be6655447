-- series/lib/slots: the series is there; its last slots and its last pause, and how they change. `slots` has at most a hundred,
-- the oldest first: at:ahead of UTC in seconds:end of its sale:why it was skipped
if not layout then
  return {4, {NO.listing_unknown, "", ""}, epoch, offset, now, 0, {}}
end
local facts, changes, slots = {}, {}, {}
local kept = call("HMGET", KEYS[2], "slots", "pause")
local from, length = match(values[2], "^(%d+)|(%d+)$")
from, length = tonumber(from), tonumber(length)
local paused, resumed = match(kept[2] or "", "^(%d+)|(%d*)$")
paused, resumed = tonumber(paused), tonumber(resumed)

local function read_slots(text)
  local all = {}
  for at, ahead in gmatch(text, "(%-?%d+):(%-?%d+)") do
    all[#all + 1] = {at = tonumber(at), ahead = ahead, text = at .. ":" .. ahead, of_wall = at + ahead * 1000}
  end
  return all
end

for text, rest in gmatch(kept[1] or "", "(%-?%d+:%-?%d+):(%d*:%l*)") do
  local slot = read_slots(text)[1]
  slot.rest, slot.opened = rest, match(rest, "^%d") ~= nil
  slots[#slots + 1] = slot
end

local function emit(fact)
  offset = offset + 1
  facts[#facts + 1] = fact
end

-- Later, by the clock of the world and by the clock on the wall: a local time that comes twice is one slot.
local function is_after(slot, before)
  return slot.at > before.at and slot.of_wall > before.of_wall
end

-- Slots only ever follow each other.
local function in_order(first)
  local last = slots[#slots]
  return (not last or is_after(first, last)) and first.at >= from
end

local function remember(slot, rest)
  if #slots == BOUND.SLOTS_KEPT then table.remove(slots, 1) end
  slot.rest = rest
  slots[#slots + 1] = slot
end

local function skip(slot)
  local why = "down"
  if paused and slot.at >= paused and (not resumed or slot.at < resumed) then why = "paused" end
  emit({"kind", "slot_skipped", "slot", slot.text, "why", why})
  remember(slot, ":" .. why)
end

local function change_status(to, kind)
  status = to
  emit({"kind", kind})
end
