-- register: a place if there is room and nobody waits, otherwise the end of the line; one entry per buyer.
-- ARGV   6 entry  7 buyer
-- REPLY  0 | 4 | 8 already registered
-- EMITS  what the calendar brings, lapses, Registered | Reserved | Waitlisted          COST  5 reads, 6 writes
local id, name = ARGV[6], ARGV[7]
-- What an order has bought under this id would be taken for the new entry.
if BOOK.get("e:" .. id) and not living(id) then return refuse(NO.id_taken) end
follow_schedule()
expire_touched(name, nil, function() return free() == 0 end)
if status == "cancelled" then return refuse(NO.registration_cancelled) end
if status == "scheduled" then return refuse(NO.registration_not_open) end
-- Told after the close too, so that an answer that got lost can be asked for again.
local own = entry_of_buyer(name)
if own then return already_registered(own) end
if status ~= "open" then return refuse(NO.registration_closed) end
if living(id) or ended_as(id) then return refuse(NO.id_taken) end
if free() == 0 or waiting > 0 then
  if waiting >= BOUND.WAITING_MAX then return refuse_limit(NO.waiting_list_full, BOUND.WAITING_MAX, waiting) end
  local fence = emit({"kind", "waitlisted", "entry", id, "buyer", name, "ahead", tostring(waiting)})
  insert({kind = "w", id = id, fence = fence, buyer = name})
elseif price == 0 then
  local fence = emit({"kind", "registered", "entry", id, "buyer", name})
  insert({kind = "c", id = id, fence = fence, buyer = name, order = ""})
else
  local till = math.min(now + checkout_ms, starts)
  local fence = emit({"kind", "registration_reserved", "entry", id, "buyer", name, "price_minor", decimal(price),
    "until", decimal(till)})
  insert({kind = "o", id = id, fence = fence, buyer = name, till = till, price = price})
end
promote()
return done()
