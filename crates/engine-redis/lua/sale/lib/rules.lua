-- lib/sale_rules: the sale is there; what its head and its rules say, taken apart.
-- `rules` is one line: starts|ends|buyer_limit|checkout_ms. Of the head, "seats with a queue" is the buyer's limit, too,
-- "seats" the number of SKUs.
if not layout then
  return {4, {1, "", ""}, epoch, offset, now, 0, {}}
end
mark = tonumber(mark)
local skus_len = tonumber(seats_len)
local starts, ends, limit, checkout_ms = match(values[2], "^(%d+)|(%d+)|(%d+)|(%d+)$")
starts, ends, limit, checkout_ms = tonumber(starts), tonumber(ends), tonumber(limit), tonumber(checkout_ms)
local BOUND = {expire_due = 64, ended_ms = 3600000, ended = 100000, stock = 10000000, minor = 1000000000000,
  ordered_ms = 900000, declined_ms = 60000}
local HOW = {expired = 0, released = 1}
-- Lua's stack takes some thousand values at once; longer lists go in pieces.
local CHUNK = 1000

local function decimal(number)
  return format("%.0f", number)
end

-- "3:2,5:1" -> {{3, 2}, {5, 1}}
local function read_counts(text)
  local all = {}
  for sku, count in gmatch(text, "(%d+):(%d+)") do all[#all + 1] = {tonumber(sku), tonumber(count)} end
  return all
end

-- "3:2:700" is two units of SKU 3 at 700 each.
local function read_lines(text)
  local all = {}
  for sku, count, price in gmatch(text, "(%d+):(%d+):(%d+)") do
    all[#all + 1] = {tonumber(sku), tonumber(count), tonumber(price)}
  end
  return all
end

local function write_counts(all)
  local parts = {}
  for n = 1, #all do parts[n] = format("%d:%d", all[n][1], all[n][2]) end
  return table.concat(parts, ",")
end

local function write_lines(all)
  local parts = {}
  for n = 1, #all do parts[n] = format("%d:%d:%.0f", all[n][1], all[n][2], all[n][3]) end
  return table.concat(parts, ",")
end
