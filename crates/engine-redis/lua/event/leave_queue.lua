-- leave_queue: gives up the place in a seat's queue.
-- ARGV   6 seat  7 buyer
-- EMITS  what expires, QueueLeft          COST  5 reads, 5 writes, O(queue)
local index = tonumber(ARGV[6])
follow_schedule()
touch_buyer(ARGV[7])
touch_seats({index})
local unknown = unknown_seats({index})
if #unknown > 0 then return refuse_all(unknown) end
local place = place_of(index, ARGV[7])
if not place then return refuse(NO.place_unknown) end
end_place(place, HOW.released, "queue_left")
return done()
