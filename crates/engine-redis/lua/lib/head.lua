-- lib/head: the listing's position, time and status, all of them one readable line that every fact writes anew:
-- layout|epoch|offset|at|status and six numbers that are the kind's own; src/kinds/<kind>.rs has their names.
local now = tonumber(ARGV[1])
if now == 0 then
  local time = call("TIME")
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local epoch, offset, epoch_text = 0, 0, "0"
local layout, last_at, status, HEAD.NAMES
if values[1] then
  layout, epoch_text, offset, last_at, status, HEAD.NAMES =
    match(values[1], "^(%l+)|(%d+)|(%d+)|(%d+)|([%l_]*)|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)$")
  epoch, offset, last_at = tonumber(epoch_text), tonumber(offset), tonumber(last_at)
  -- The listing's time never runs backwards past its last fact.
  if now < last_at then now = last_at end
  -- One that is deleted is no listing, but for those who would make it anew (lib/vacant).
  if status == "deleted" then layout = nil end
end
