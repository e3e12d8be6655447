-- event/lib/queue: the queues of held seats, one field a seat, a line a place, first come first.
local queues, queues_dirty = {}, {}

local function queue_of(index)
  local known = queues[index]
  if not known then
    known = {}
    -- Most events have no queue at all: the head says how many seats have one.
    local value = queued > 0 and call("HGET", KEYS[3], index)
    if value then
      for id, fence, ends, buyer in gmatch(value, "(%w+)|(%d+)|(%d+)|([^\n]*)") do
        known[#known + 1] =
          {id = id, seat = index, fence = tonumber(fence), ends = tonumber(ends), buyer = buyer}
      end
    end
    queues[index] = known
  end
  return known
end

local function queued_seats()
  local all = {}
  if queued > 0 then
    local fields = call("HKEYS", KEYS[3])
    for n = 1, #fields do all[n] = tonumber(fields[n]) end
    table.sort(all)
  end
  return all
end

local function commit_queues()
  for index in pairs(queues_dirty) do
    local places = queues[index]
    if #places == 0 then
      call("HDEL", KEYS[3], index)
    else
      local lines = {}
      for n, place in ipairs(places) do
        lines[n] = format("%s|%.0f|%.0f|%s", place.id, place.fence, place.ends, place.buyer)
      end
      call("HSET", KEYS[3], index, table.concat(lines, "\n"))
    end
  end
end
