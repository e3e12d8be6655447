-- sale/lib/rules: the sale is there; what its head and its rules say, taken apart.
-- `rules` is one line: starts|ends|buyer_limit|checkout_ms. The buyer's limit stands in the head, too.
if not layout then
  return {4, {NO.listing_unknown, "", ""}, epoch, offset, now, 0, {}}
end
mark = tonumber(mark)
skus_len = tonumber(skus_len)
local starts, ends, limit, checkout_ms = match(values[2], "^(%d+)|(%d+)|(%d+)|(%d+)$")
starts, ends, limit, checkout_ms = tonumber(starts), tonumber(ends), tonumber(limit), tonumber(checkout_ms)
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
