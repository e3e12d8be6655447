-- change_status: staff moves the event on; the clock has moved it first, if its hour had come.
-- ARGV   6 status
-- EMITS  StatusChanged*          COST  2 reads, 2 writes, O(queued places)
follow_schedule()
local MAY_BECOME = {
  draft = {scheduled = true, on_sale = true, cancelled = true},
  scheduled = {draft = true, on_sale = true, postponed = true, cancelled = true},
  on_sale = {closed = true, postponed = true, cancelled = true},
  closed = {on_sale = true, completed = true, postponed = true, cancelled = true},
  postponed = {scheduled = true, on_sale = true, cancelled = true},
  completed = {},
  cancelled = {},
}
if status == ARGV[6] then return unchanged() end
-- A sale whose window is over would close again at once: the window must be moved first.
local would_close = ARGV[6] == "on_sale" and now >= closes
if would_close or not MAY_BECOME[status][ARGV[6]] then return refuse(NO.status_conflict) end
change_status(ARGV[6], "0")
return done()
