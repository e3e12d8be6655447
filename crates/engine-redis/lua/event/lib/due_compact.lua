-- event/lib/due_compact: deadlines in chunks: those of one second granted one after the other lie together, at most 64.
-- The index has the chunks by their second, `due_chunks` their entries.
local due_added, due_removed, due_gone = {}, {}, {}
local SECOND, TOGETHER, ENTRY = 1000, 64, 18

local function chunk_of(thing)
  local second = math.floor(thing.ends / SECOND)
  return format("%.0f:%.0f", second, math.floor(math.fmod(thing.fence, BOUND.FENCE_EPOCH) / TOGETHER)), second
end

-- Milliseconds in the second, fence, kind, id.
local function due_entry(kind, thing)
  return struct.pack(">I2I7", thing.ends % SECOND, thing.fence) .. kind .. pack_id(thing.id)
end

local function due_add(kind, thing)
  local name, second = chunk_of(thing)
  due_gone[thing.id] = nil
  due_added[due_entry(kind, thing)] = {name, second, thing.ends}
end

local function due_remove(kind, thing)
  local entry = due_entry(kind, thing)
  if due_added[entry] then
    due_added[entry] = nil
  else
    due_removed[entry] = chunk_of(thing)
  end
  due_gone[thing.id] = true
end

local function sooner(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return a[2] < b[2]
end

-- The deadlines in order, read second by second as far as they are asked for.
local due_list, due_names, due_read = {}, nil, 0

local function read_second(bound)
  local second, names = match(due_names[due_read + 1], "^%d+"), {}
  while due_names[due_read + 1] and match(due_names[due_read + 1], "^%d+") == second do
    due_read = due_read + 1
    names[#names + 1] = due_names[due_read]
  end
  local found, start = {}, tonumber(second) * SECOND
  for from = 1, #names, CHUNK do
    local values = call("HMGET", KEYS[12], unpack(names, from, math.min(from + CHUNK - 1, #names)))
    for n = 1, #values do
      for at = 1, #values[n], ENTRY do
        local ms, fence = struct.unpack(">I2I7", values[n], at)
        if start + ms <= bound then
          found[#found + 1] = {start + ms, fence, string.sub(values[n], at + 9, at + 9),
            string.sub(values[n], at + 10, at + 17)}
        end
      end
    end
  end
  table.sort(found, sooner)
  for n = 1, #found do due_list[#due_list + 1] = {found[n][3], unpack_id(found[n][4])} end
end

-- What is over (or `all` there is), oldest first, from the `from`th on: {kind, id} each, and how many were looked at.
-- What this very command took away is left out.
local function over(from, count, all)
  local bound = all and math.huge or now
  due_names = due_names or call("ZRANGEBYSCORE", KEYS[7], "-inf", all and "+inf" or decimal(now))
  while #due_list < from + count and due_names[due_read + 1] do read_second(bound) end
  local found, last = {}, math.min(from + count, #due_list)
  for n = from + 1, last do
    if not due_gone[due_list[n][2]] then found[#found + 1] = due_list[n] end
  end
  return found, math.max(0, last - from)
end

-- Whether anything falls due after `from` and until now.
local function due_since(from)
  local first = math.floor(from / SECOND) * SECOND
  local names = call("ZRANGEBYSCORE", KEYS[7], decimal(first), decimal(now))
  for n = 1, #names do
    local value, start = call("HGET", KEYS[12], names[n]), tonumber(match(names[n], "^%d+")) * SECOND
    for at = 1, #value, ENTRY do
      local ends = start + struct.unpack(">I2", value, at)
      if ends > from and ends <= now then return true end
    end
  end
  return false
end

-- The chunks that change, read before anything is written.
LATER.chunks = {}
function LATER.prepare_due()
  local function chunk(name)
    if not LATER.chunks[name] then
      LATER.chunks[name] = {}
      local value = call("HGET", KEYS[12], name) or ""
      for at = 1, #value, ENTRY do LATER.chunks[name][string.sub(value, at, at + ENTRY - 1)] = true end
    end
    return LATER.chunks[name]
  end
  for entry, name in pairs(due_removed) do chunk(name)[entry] = nil end
  for entry, into in pairs(due_added) do chunk(into[1])[entry] = true end
end

-- Writes the changes; returns the earliest new deadline.
local function commit_due()
  local seconds, first = {}, nil
  for _, into in pairs(due_added) do
    seconds[into[1]] = into[2]
    if not first or into[3] < first then first = into[3] end
  end
  for name, entries in pairs(LATER.chunks) do
    local parts = {}
    for entry in pairs(entries) do parts[#parts + 1] = entry end
    if #parts == 0 then
      call("HDEL", KEYS[12], name)
      call("ZREM", KEYS[7], name)
    else
      call("HSET", KEYS[12], name, table.concat(parts))
      if seconds[name] then call("ZADD", KEYS[7], decimal(seconds[name] * SECOND), name) end
    end
  end
  return first
end
