-- change_capacity: more places promote as many; nobody loses one.
-- ARGV   6 capacity
-- EMITS  what the calendar brings, lapses, CapacityChanged, promotions          COST  O(promotions)
local wanted = tonumber(ARGV[6])
follow_schedule()
expire_touched(nil, nil, function() return taken() > wanted end)
if over() then return refuse(over()) end
if wanted < taken() then return refuse_limit(NO.not_enough_stock, wanted, taken()) end
if wanted == capacity then return unchanged() end
emit({"kind", "capacity_changed", "capacity", ARGV[6]})
capacity = wanted
promote()
return done()
