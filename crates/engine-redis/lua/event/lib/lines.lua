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

-- What so many places of an area cost, and how many of them there are not. One area may be there at several prices;
-- what goes first is what came last.
local function cost_of_places(areas, index, count)
  local cost = 0
  for n = #areas, 1, -1 do
    local line = areas[n]
    if line[1] == index then
      local some = math.min(count, line[2])
      cost, count = cost + some * line[3], count - some
    end
  end
  return cost, count
end

local function places_in(areas, index)
  local count = 0
  for n = 1, #areas do
    if areas[n][1] == index then count = count + areas[n][2] end
  end
  return count
end

local function take_places(areas, index, count)
  for n = #areas, 1, -1 do
    local line = areas[n]
    if line[1] == index then
      local some = math.min(count, line[2])
      line[2], count = line[2] - some, count - some
      if line[2] == 0 then table.remove(areas, n) end
    end
  end
end
