-- event/lib/lines: seats and places with their prices, as facts tell them: "12:4200,13:4200".
local function read_lines(text)
  local places, costs = {}, {}
  for place, price in gmatch(text, "(%d+):(%d+)") do
    places[#places + 1] = tonumber(place)
    costs[#costs + 1] = tonumber(price)
  end
  return places, costs
end

local function read_area_lines(text)
  local all = {}
  for area, count, price in gmatch(text, "(%d+):(%d+):(%d+)") do
    all[#all + 1] = {tonumber(area), tonumber(count), tonumber(price)}
  end
  return all
end

local function write_lines(places, costs)
  local all = {}
  for n = 1, #places do all[n] = format("%d:%.0f", places[n], costs[n]) end
  return table.concat(all, ",")
end

local function write_area_lines(areas)
  local all = {}
  for n = 1, #areas do all[n] = format("%d:%d:%.0f", areas[n][1], areas[n][2], areas[n][3]) end
  return table.concat(all, ",")
end
