-- event/lib/places: a buyer's place in a seat's queue, and how many living are in front.
local function place_of(index, name)
  local ahead, queue = 0, queue_of(index)
  for n = 1, #queue do
    if now < queue[n].ends then
      if queue[n].buyer == name then return queue[n], ahead end
      ahead = ahead + 1
    end
  end
end
