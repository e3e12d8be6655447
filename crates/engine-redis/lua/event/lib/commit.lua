-- event/lib/commit: everything that was decided is written here, the facts first. Nothing may fail behind them: a key that is
-- written but may not have been read is asked for its type before.
-- Only a hint for sweepers: the marker ends at the next deadline. When it has ended, the next is looked up.
local function commit_marker(first)
  if mark <= now then
    local next_due = call("ZRANGE", KEYS[7], 0, 0, "WITHSCORES")[2]
    first = next_due and math.max(tonumber(next_due), now + 1) or nil
  end
  if first and (first < mark or mark <= now) then
    call("SET", KEYS[11], decimal(first), "PX", decimal(first - now))
    mark = first
  end
end

local function commit(is_yes)
  if #facts == 0 then return end
  LATER.prepare_due()
  LATER.prepare_things()
  call("ZCARD", KEYS[7])
  if next(queues_dirty) then call("HLEN", KEYS[3]) end
  if next(orders_dirty) or next(BOOK.dirty) then call("HLEN", KEYS[5]) end
  if next(open_changes) then call("ZCARD", KEYS[6]) end
  if #ended > 0 then call("ZCARD", KEYS[8]) end
  if next(meta_changes) or next(areas_dirty) then call("HLEN", KEYS[1]) end
  log_facts(is_yes)
  LATER.write()
  if LATER.chart then call("SET", KEYS[9], LATER.chart) end
  commit_seats(hold_of)
  commit_queues()
  commit_orders()
  BOOK.commit()
  forget_ended(ended)
  commit_things()
  commit_marker(commit_due())
  call("HSET", KEYS[2], "head", format("%s|%.0f|%.0f|%.0f|%s|%d|%.0f|%d|%s|%s|%s", LAYOUT, epoch, offset, now, status,
    queued_then, mark, seats_len, details_version, chart_version, buckets))
  local set = {}
  for name, value in pairs(meta_changes) do
    set[#set + 1] = name
    set[#set + 1] = value
  end
  for index in pairs(areas_dirty) do
    set[#set + 1] = "area:" .. index
    set[#set + 1] = write_area(areas[index])
  end
  if #set > 0 then call("HSET", KEYS[1], unpack(set)) end
end
