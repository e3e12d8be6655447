-- join_queue: waits for a seat that another holds; in the queue already, it is the heartbeat.
-- ARGV   6 place  7 seat  8 buyer
-- REPLY  0 | 3 {place, seat, until, ahead} | 4
-- EMITS  what expires, QueueJoined | PlaceRenewed          COST  6 reads, 6 writes, O(queue)
local index, name = tonumber(ARGV[7]), ARGV[8]
follow_schedule()
touch_buyer(name)
touch_seats({index})
local closed = off_sale()
if closed then return refuse(closed) end
local unknown = unknown_seats({index})
if #unknown > 0 then return refuse_all(unknown) end
local own, ahead = place_of(index, name)
if own then
  if own.ends - now > BOUND.PLACE_RENEW_BELOW_MS then
    return answer(3, {own.id, index, decimal(own.ends), ahead})
  end
  due_remove("q", own)
  own.ends = now + BOUND.PLACE_MS
  emit({"kind", "place_renewed", "place", own.id, "until", decimal(own.ends), "ahead", decimal(ahead)})
  due_add("q", own)
  queues_dirty[index] = true
  return done()
end
local shows = status_of(index)
if shows ~= "held" then
  local code = shows == "available" and NO.seat_available or shows == "sold" and NO.seat_sold or NO.seat_blocked
  return refuse_all({{"s", index, code}})
end
if hold_of(seat(index).by).buyer == name then return refuse_all({{"s", index, NO.already_yours}}) end
local queue = queue_of(index)
local waiting = #queue
if waiting >= BOUND.QUEUE_PER_SEAT_MAX then return refuse_limit(NO.queue_full, BOUND.QUEUE_PER_SEAT_MAX, waiting) end
local buyer = buyer_of(name)
local places = buyer and #buyer.places or 0
if places >= BOUND.QUEUE_PLACES_PER_BUYER_MAX then
  -- Places that are over, though nobody has said so yet, do not count.
  for _, other in ipairs(buyer.places) do
    for _, place in ipairs(queue_of(other)) do
      if place.buyer == name and now >= place.ends then places = places - 1 end
    end
  end
end
if places >= BOUND.QUEUE_PLACES_PER_BUYER_MAX then
  return refuse_limit(NO.queue_limit, BOUND.QUEUE_PLACES_PER_BUYER_MAX, places)
end
if knows(ARGV[6]) then return refuse(NO.id_taken) end
local ends = now + BOUND.PLACE_MS
local fence = emit({"kind", "queue_joined", "place", ARGV[6], "seat", ARGV[7], "buyer", name, "until", decimal(ends),
  "ahead", decimal(waiting)})
local place = {id = ARGV[6], seat = index, fence = fence, ends = ends, buyer = name}
if waiting == 0 then queued_then = queued_then + 1 end
queue[waiting + 1] = place
queues_dirty[index] = true
things[place.id] = {kind = "q", seat = index}
things_dirty[place.id] = true
due_add("q", place)
buyer = intern(name)
buyer.places[#buyer.places + 1] = index
return done()
