-- event/lib/seats_hash: the seats of a small chart: `locks` has one field a seat that is not simply free.
local seats, seats_dirty = {}, {}

local function read_lock(value)
  if not value then return {grip = 0, blocked = false} end
  local state, blocked, by = match(value, '^{"state":"(%l)%l*","blocked":(%d),"%l+":"(%w*)"')
  local grip = state == "h" and 1 or state == "s" and 2 or 0
  return {grip = grip, blocked = blocked == "1", by = grip > 0 and by or nil}
end

-- Reads many seats at once; what is known already stays as it is.
local function load_seats(list)
  local missing = {}
  for n = 1, #list do
    if not seats[list[n]] then missing[#missing + 1] = list[n] end
  end
  for from = 1, #missing, CHUNK do
    local to = math.min(from + CHUNK - 1, #missing)
    local values = call("HMGET", KEYS[2], unpack(missing, from, to))
    for n = from, to do seats[missing[n]] = read_lock(values[n - from + 1]) end
  end
end

local function seat(index)
  local known = seats[index]
  if not known then
    known = read_lock(call("HGET", KEYS[2], index))
    seats[index] = known
  end
  return known
end

local function quoted(text)
  if string.find(text, '["\\]') then return (string.gsub(text, '["\\]', "\\%0")) end
  return text
end

-- The seed's lock, and the hold it belongs to.
local function write_lock(state, held)
  local blocked = state.blocked and 1 or 0
  if state.grip == 1 then
    return format('{"state":"held","blocked":%d,"hold":"%s","user_id":"%s","fencing_token":%.0f,"acquired_at":%.0f,'
      .. '"expires_at":%.0f,"extension_count":%d,"max_extensions":%d}', blocked, held.id, quoted(held.buyer),
      held.fence, held.placed, held.ends, held.extensions, extensions_max)
  elseif state.grip == 2 then
    return format('{"state":"sold","blocked":%d,"order":"%s"}', blocked, state.by)
  end
  return '{"state":"free","blocked":1,"hold":""}'
end

local function commit_seats(hold_of)
  local set, gone = {}, {}
  for index in pairs(seats_dirty) do
    local state = seats[index]
    if state.grip == 0 and not state.blocked then
      gone[#gone + 1] = index
    else
      set[#set + 1] = index
      set[#set + 1] = write_lock(state, state.grip == 1 and hold_of(state.by))
    end
  end
  for from = 1, #set, CHUNK do call("HSET", KEYS[2], unpack(set, from, math.min(from + CHUNK - 1, #set))) end
  for from = 1, #gone, CHUNK do call("HDEL", KEYS[2], unpack(gone, from, math.min(from + CHUNK - 1, #gone))) end
end

-- A lock tells its hold's deadline.
local function refresh_locks(held)
  for n = 1, #held.seats do
    seat(held.seats[n])
    seats_dirty[held.seats[n]] = true
  end
end

-- Another chart: a seat keeps its index and so its field.
local function resize_seats(count, chart)
  if count > 0 then LATER.chart = chart end
  seats_len = count
end
