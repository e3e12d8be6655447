-- event/lib/areas: general-admission areas, one field each in the head, and the orders.
local areas, areas_dirty = {}, {}

-- nil: there never was such an area. A retired one has no places and is not on sale.
local function area_of(index)
  local known = areas[index]
  if known == nil then
    local value = call("HGET", KEYS[1], "area:" .. index)
    known = false
    if value then
      local capacity, held, sold, blocked, tier, retired = match(value, "^(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|(%d)$")
      known = {capacity = tonumber(capacity), held = tonumber(held), sold = tonumber(sold),
        blocked = tonumber(blocked), tier = tonumber(tier), retired = retired == "1"}
    end
    areas[index] = known
  end
  return known or nil
end

local function available(area)
  return math.max(0, area.capacity - area.held - area.sold - area.blocked)
end

local function write_area(area)
  return format("%d|%d|%d|%d|%d|%d", area.capacity, area.held, area.sold, area.blocked, area.tier,
    area.retired and 1 or 0)
end

local orders, orders_dirty, open_changes = {}, {}, {}

local function order_of(id)
  local known = orders[id]
  if known == nil then
    local value = call("HGET", KEYS[5], id)
    known = false
    if value then
      local fence, at, total, hold, lines, of_areas, buyer =
        match(value, "^(%d+)|(%d+)|(%d+)|(%w+)|([^|]*)|([^|]*)|(.*)$")
      local places, costs = read_lines(lines)
      known = {id = id, hold = hold, fence = tonumber(fence), at = tonumber(at), total = tonumber(total), seats = places,
        prices = costs, areas = read_area_lines(of_areas), buyer = buyer}
    end
    orders[id] = known
  end
  return known or nil
end

local function commit_orders()
  for id in pairs(orders_dirty) do
    local order = orders[id]
    call("HSET", KEYS[5], id, format("%.0f|%.0f|%.0f|%s|%s|%s|%s", order.fence, order.at, order.total, order.hold,
      write_lines(order.seats, order.prices), write_area_lines(order.areas), order.buyer))
  end
  for id, fence in pairs(open_changes) do
    if fence then call("ZADD", KEYS[6], decimal(fence), id) else call("ZREM", KEYS[6], id) end
  end
end
