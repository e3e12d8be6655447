-- event/lib/pack: ids as 8 bytes, and records in buckets: a hash field of some sixteen records costs a sixteenth of the
-- overhead, and is still quickly read through.
local TO_HEX = {j = "i", k = "j", m = "k", n = "l", p = "m", q = "n", r = "o", s = "p", t = "q", v = "r", w = "s",
  x = "t", y = "u", z = "v"}
local DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"

-- Five characters are three bytes, the other eight are five: a number of Lua's has no room for all of them.
local function pack_id(id)
  local hex = string.gsub(id, "[j-z]", TO_HEX)
  return struct.pack(">I3I5", tonumber(string.sub(hex, 1, 5), 32), tonumber(string.sub(hex, 6), 32))
end

local function digits(number, count)
  local text = ""
  for _ = 1, count do
    local digit = number % 32
    text = string.sub(DIGITS, digit + 1, digit + 1) .. text
    number = (number - digit) / 32
  end
  return text
end

local function unpack_id(bytes)
  local first, rest = struct.unpack(">I3I5", bytes)
  return digits(first, 5) .. digits(rest, 8)
end

local BUCKETS = tonumber(buckets)

local function bucket_of_id(id)
  local hex = string.gsub(string.sub(id, -5), "[j-z]", TO_HEX)
  return tonumber(hex, 32) % BUCKETS
end

local function bucket_of_name(name)
  return "@" .. tonumber(string.sub(redis.sha1hex(name), 1, 8), 16) % BUCKETS
end

-- A bucket is key length, key, record length, record, and so on. Reads it into {key -> record}.
local function read_bucket(value)
  local records, at = {}, 1
  while value and at <= #value do
    local length = struct.unpack(">I2", value, at)
    local key = string.sub(value, at + 2, at + 1 + length)
    at = at + 2 + length
    length = struct.unpack(">I2", value, at)
    records[key] = string.sub(value, at + 2, at + 1 + length)
    at = at + 2 + length
  end
  return records
end

local function write_bucket(records)
  local parts = {}
  for key, record in pairs(records) do
    parts[#parts + 1] = struct.pack(">I2", #key) .. key .. struct.pack(">I2", #record) .. record
  end
  return table.concat(parts)
end
