-- event/lib/blocks: seats and areas that staff names.
local function known_places(list, away)
  local unknown = unknown_seats(list)
  if #unknown > 0 then return refuse_all(unknown) end
  for n = 1, #away do
    local area = area_of(away[n][1])
    if not area or area.retired then return refuse(NO.area_unknown) end
  end
end

-- The seats whose block really changes, each once, by index.
local function changed(list, blocked)
  local fresh, seen = {}, {}
  load_seats(list)
  for n = 1, #list do
    if not seen[list[n]] and seat(list[n]).blocked ~= blocked then fresh[#fresh + 1] = list[n] end
    seen[list[n]] = true
  end
  table.sort(fresh)
  return fresh
end

local function set_blocked(list, blocked)
  -- The locks of held seats are written anew, and tell of their hold.
  local holds = {}
  for n = 1, #list do
    local state = seat(list[n])
    if state.grip == 1 then holds[#holds + 1] = state.by end
  end
  load_holds(holds)
  for n = 1, #list do
    seat(list[n]).blocked = blocked
    seats_dirty[list[n]] = true
  end
end
