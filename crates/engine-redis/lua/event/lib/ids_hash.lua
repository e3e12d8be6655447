-- event/lib/ids_hash: holds, queue places and the ended by their id, buyers by their name, in the hash of the locks: a plain
-- hold asks for its seat, its id and its buyer in one call. A buyer's field begins with "@"; ids have 13 characters.
local things, things_dirty = {}, {}
local buyers, buyers_dirty = {}, {}

-- "h|…" a hold, "q|seat" a place in its queue, "e|at|how" one that ended.
local function read_thing(id, value)
  if not value then return false end
  local kind = string.sub(value, 1, 1)
  if kind == "h" then
    local fence, placed, ends, length, extensions, offered, lines, areas, buyer =
      match(value, "^h|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|(%d)|([^|]*)|([^|]*)|(.*)$")
    local places, costs = read_lines(lines)
    return {kind = "h", id = id, fence = tonumber(fence), placed = tonumber(placed), ends = tonumber(ends),
      length = tonumber(length), extensions = tonumber(extensions), offered = offered == "1", buyer = buyer,
      seats = places, prices = costs, areas = read_area_lines(areas)}
  elseif kind == "q" then
    return {kind = "q", seat = tonumber(string.sub(value, 3))}
  end
  local at, how = match(value, "^e|(%d+)|(%d)$")
  return {kind = "e", at = tonumber(at), how = tonumber(how)}
end

local function write_thing(thing)
  if thing.kind == "h" then
    return format("h|%.0f|%.0f|%.0f|%.0f|%d|%d|%s|%s|%s", thing.fence, thing.placed, thing.ends, thing.length,
      thing.extensions, thing.offered and 1 or 0, write_lines(thing.seats, thing.prices),
      write_area_lines(thing.areas), thing.buyer)
  elseif thing.kind == "q" then
    return "q|" .. thing.seat
  end
  return format("e|%.0f|%d", thing.at, thing.how)
end

local function thing(id)
  local known = things[id]
  if known == nil then
    known = read_thing(id, call("HGET", KEYS[2], id))
    things[id] = known
  end
  return known
end

-- The living hold of this id.
local function hold_of(id)
  local known = thing(id)
  return known and known.kind == "h" and known or nil
end

local function load_holds(list)
  local missing = {}
  for n = 1, #list do
    if things[list[n]] == nil then missing[#missing + 1] = list[n] end
  end
  for from = 1, #missing, CHUNK do
    local to = math.min(from + CHUNK - 1, #missing)
    local values = call("HMGET", KEYS[2], unpack(missing, from, to))
    for n = from, to do things[missing[n]] = read_thing(missing[n], values[n - from + 1]) end
  end
end

local function buyer_of(name)
  local known = buyers[name]
  if known == nil then
    local value = call("HGET", KEYS[2], "@" .. name)
    known = false
    if value then
      local held, sold, ordered, soonest, holds, places = match(value, "^(%d+)|(%d+)|(%d)|(%d+)|([^|]*)|(.*)$")
      known = {held = tonumber(held), sold = tonumber(sold), ordered = ordered == "1", soonest = tonumber(soonest),
        holds = {}, places = numbers(places)}
      for id in gmatch(holds, "%w+") do known.holds[#known.holds + 1] = id end
    end
    buyers[name] = known
  end
  return known or nil
end

local function write_buyer(buyer)
  return format("%d|%d|%d|%.0f|%s|%s", buyer.held, buyer.sold, buyer.ordered and 1 or 0, buyer.soonest,
    table.concat(buyer.holds, ","), table.concat(buyer.places, ","))
end

-- One that ended is forgotten; an id that returned after its hour names a living thing again.
local function forget_thing(id)
  local was = thing(id)
  if was and was.kind == "e" then
    things[id] = false
    things_dirty[id] = true
  end
end

-- They stand beside the head, which was read.
function LATER.prepare_things() end

local function commit_things()
  local set, gone = {}, {}
  for id in pairs(things_dirty) do
    local thing = things[id]
    if thing then
      set[#set + 1] = id
      set[#set + 1] = write_thing(thing)
    else
      gone[#gone + 1] = id
    end
  end
  for name in pairs(buyers_dirty) do
    local buyer = buyers[name]
    if buyer then
      set[#set + 1] = "@" .. name
      set[#set + 1] = write_buyer(buyer)
    else
      gone[#gone + 1] = "@" .. name
    end
  end
  for from = 1, #set, CHUNK do call("HSET", KEYS[2], unpack(set, from, math.min(from + CHUNK - 1, #set))) end
  for from = 1, #gone, CHUNK do call("HDEL", KEYS[2], unpack(gone, from, math.min(from + CHUNK - 1, #gone))) end
end
