-- event/lib/ids_compact: holds and queue places by their id, buyers by their name, packed in buckets of one hash.
-- The ended are in their own index only.
local things, things_dirty = {}, {}
local buyers, buyers_dirty = {}, {}
local bucket_cache = {}

local function bucket_at(field)
  local known = bucket_cache[field]
  if not known then
    known = read_bucket(call("HGET", KEYS[4], field))
    bucket_cache[field] = known
  end
  return known
end

-- "h" a hold, "q" a place in a queue.
local function read_record(id, value)
  if string.sub(value, 1, 1) == "q" then
    return {kind = "q", seat = struct.unpack(">I3", value, 2)}
  end
  local fence, placed, span, length, flags, count, at = struct.unpack(">I7I6I3I3I1I1", value, 2)
  local places, costs, areas = {}, {}, {}
  for n = 1, count do places[n], costs[n], at = struct.unpack(">I3I6", value, at) end
  count, at = struct.unpack(">I1", value, at)
  for n = 1, count do
    local area, places_held, price
    area, places_held, price, at = struct.unpack(">I2I1I6", value, at)
    areas[n] = {area, places_held, price}
  end
  return {kind = "h", id = id, fence = fence, placed = placed, ends = placed + span, length = length,
    extensions = math.floor(flags / 2), offered = flags % 2 == 1, seats = places, prices = costs, areas = areas,
    buyer = string.sub(value, at)}
end

local function write_record(thing)
  if thing.kind == "q" then return "q" .. struct.pack(">I3", thing.seat) end
  local parts = {"h", struct.pack(">I7I6I3I3I1I1", thing.fence, thing.placed, thing.ends - thing.placed, thing.length,
    2 * thing.extensions + (thing.offered and 1 or 0), #thing.seats)}
  for n = 1, #thing.seats do parts[#parts + 1] = struct.pack(">I3I6", thing.seats[n], thing.prices[n]) end
  parts[#parts + 1] = struct.pack(">I1", #thing.areas)
  for _, line in ipairs(thing.areas) do parts[#parts + 1] = struct.pack(">I2I1I6", line[1], line[2], line[3]) end
  parts[#parts + 1] = thing.buyer
  return table.concat(parts)
end

local function thing(id)
  local known = things[id]
  if known == nil then
    local record = bucket_at(bucket_of_id(id))[pack_id(id)]
    if record then
      known = read_record(id, record)
    else
      local score = call("ZSCORE", KEYS[8], id)
      known = score and {kind = "e", at = math.floor(score / BOUND.END_STEP), how = score % BOUND.END_STEP} or false
    end
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
  for n = 1, #list do thing(list[n]) end
end

local function buyer_of(name)
  local known = buyers[name]
  if known == nil then
    local record = bucket_at(bucket_of_name(name))[name]
    known = false
    if record then
      local held, sold, ordered, count, at = struct.unpack(">I3I3I1I2", record)
      known = {held = held, sold = sold, ordered = ordered == 1, soonest = 0, holds = {}, places = {}}
      for n = 1, count do
        known.holds[n] = unpack_id(string.sub(record, at, at + 7))
        at = at + 8
      end
      while at <= #record do
        known.places[#known.places + 1], at = struct.unpack(">I3", record, at)
      end
    end
    buyers[name] = known
  end
  return known or nil
end

local function write_buyer(buyer)
  local parts = {struct.pack(">I3I3I1I2", buyer.held, buyer.sold, buyer.ordered and 1 or 0, #buyer.holds)}
  for n = 1, #buyer.holds do parts[#parts + 1] = pack_id(buyer.holds[n]) end
  for n = 1, #buyer.places do parts[#parts + 1] = struct.pack(">I3", buyer.places[n]) end
  return table.concat(parts)
end

-- The ended are nowhere but in their index.
local function forget_thing() end

-- The buckets that change, read before anything is written.
function LATER.prepare_things()
  for id in pairs(things_dirty) do bucket_at(bucket_of_id(id)) end
  for name in pairs(buyers_dirty) do bucket_at(bucket_of_name(name)) end
end

local function commit_things()
  local dirty = {}
  for id in pairs(things_dirty) do
    local known, field = things[id], bucket_of_id(id)
    local living = known and known.kind ~= "e"
    bucket_at(field)[pack_id(id)] = living and write_record(known) or nil
    dirty[field] = true
  end
  for name in pairs(buyers_dirty) do
    local field = bucket_of_name(name)
    bucket_at(field)[name] = buyers[name] and write_buyer(buyers[name]) or nil
    dirty[field] = true
  end
  for field in pairs(dirty) do
    local value = write_bucket(bucket_cache[field])
    if value == "" then call("HDEL", KEYS[4], field) else call("HSET", KEYS[4], field, value) end
  end
end
