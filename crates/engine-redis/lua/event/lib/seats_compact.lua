-- event/lib/seats_compact: the seats of a large chart. Behind the chart's characters two bits a seat say free, held or sold,
-- and behind these one bit a seat says blocked; `locks` has the holds of held seats, 32 seats a field.
local seats, seats_dirty = {}, {}
local LOCKS = 32
local lock_buckets = {}

local function grip_at(index) return 8 * seats_len + 2 * index end
local function block_at(index) return 8 * (seats_len + math.ceil(seats_len / 4)) + index end

-- A record is the seat's number in its bucket and its hold's id.
local function read_locks(value)
  local locks = {}
  for at = 1, #value, 9 do locks[string.byte(value, at)] = string.sub(value, at + 1, at + 8) end
  return locks
end

local function lock_bucket(number)
  local known = lock_buckets[number]
  if not known then
    known = read_locks(call("HGET", KEYS[2], number) or "")
    lock_buckets[number] = known
  end
  return known
end

local function load_seats(list)
  local missing = {}
  for n = 1, #list do
    if not seats[list[n]] then missing[#missing + 1] = list[n] end
  end
  -- Six words a seat: pieces that Lua's stack can take.
  for from = 1, #missing, CHUNK do
    local to, words = math.min(from + CHUNK - 1, #missing), {}
    for n = from, to do
      words[#words + 1] = "GET"
      words[#words + 1] = "u2"
      words[#words + 1] = decimal(grip_at(missing[n]))
      words[#words + 1] = "GET"
      words[#words + 1] = "u1"
      words[#words + 1] = decimal(block_at(missing[n]))
    end
    local bits = call("BITFIELD", KEYS[9], unpack(words))
    for n = from, to do
      local index, grip = missing[n], bits[2 * (n - from) + 1]
      local by = grip == 1 and lock_bucket(math.floor(index / LOCKS))[index % LOCKS]
      seats[index] = {grip = grip, blocked = bits[2 * (n - from) + 2] == 1, by = by and unpack_id(by) or nil}
    end
  end
end

local function seat(index)
  if not seats[index] then load_seats({index}) end
  return seats[index]
end

local function commit_seats()
  local words, buckets = {}, {}
  for index in pairs(seats_dirty) do
    local state = seats[index]
    words[#words + 1] = "SET"
    words[#words + 1] = "u2"
    words[#words + 1] = decimal(grip_at(index))
    words[#words + 1] = state.grip
    words[#words + 1] = "SET"
    words[#words + 1] = "u1"
    words[#words + 1] = decimal(block_at(index))
    words[#words + 1] = state.blocked and 1 or 0
    local number = math.floor(index / LOCKS)
    local bucket = lock_bucket(number)
    local by = state.grip == 1 and pack_id(state.by) or nil
    if bucket[index % LOCKS] ~= by then
      bucket[index % LOCKS] = by
      buckets[number] = bucket
    end
  end
  for from = 1, #words, 4000 do
    call("BITFIELD", KEYS[9], unpack(words, from, math.min(from + 3999, #words)))
  end
  for number, bucket in pairs(buckets) do
    local parts = {}
    for offset, by in pairs(bucket) do parts[#parts + 1] = string.char(offset) .. by end
    if #parts == 0 then call("HDEL", KEYS[2], number) else call("HSET", KEYS[2], number, table.concat(parts)) end
  end
end

-- Locks tell only their hold.
local function refresh_locks() end

-- Another chart: seats keep their index, so their bits move behind the new characters as they are.
local function resize_seats(count, chart)
  local fours, eights = math.ceil(seats_len / 4), math.ceil(seats_len / 8)
  local grips = call("GETRANGE", KEYS[9], seats_len, seats_len + fours - 1)
  local blocks = call("GETRANGE", KEYS[9], seats_len + fours, seats_len + fours + eights - 1)
  LATER.chart = chart .. grips .. string.rep("\0", math.ceil(count / 4) - fours) .. blocks
    .. string.rep("\0", math.ceil(count / 8) - eights)
  seats_len = count
end
