-- registration/lib/ends: how an entry ends, with the order that has taken it; whom that promotes, and what the calendar
-- brings.
local function end_entry(entry, how)
  count_out(entry)
  write("HDEL", KEYS[2], "@" .. entry.buyer)
  write("ZREM", KEYS[4], entry.id)
  forget_ended()
  write("HSET", KEYS[2], entry.id, format("e|%.0f|%d", now, how))
  write("ZADD", KEYS[8], decimal(now * BOUND.END_STEP + how), entry.id)
  BOOK.goods_gone(entry.id, how == HOW.expired and "expired" or "cancelled")
end

-- A place is its buyer's no longer, and so much of its price goes back. What an order paid for it stays, under the order's id:
-- g|fence|entry|price|at|returned|buyer
local function give_up(entry, cause, returned)
  emit({"kind", "entry_cancelled", "entry", entry.id, "buyer", entry.buyer, "why", cause, "amount_minor",
    decimal(returned)})
  end_entry(entry, HOW.released)
  if entry.kind ~= "c" or entry.order == "" then return end
  write("HSET", KEYS[5], entry.order, format("g|%.0f|%s|%.0f|%.0f|%.0f|%s", entry.fence, entry.id, entry.price, entry.at,
    returned, entry.buyer))
end

-- Promotes as many as there is room for, a bounded number in one step; sweeps go on at once.
local function promote()
  while promoted < BOUND.EXPIRE_DUE_MAX and status == "open" and free() > 0 and waiting > 0 do
    promoted = promoted + 1
    local first = living(call("ZRANGE", KEYS[3], 0, 0)[1])
    if price == 0 then
      emit({"kind", "promoted", "entry", first.id, "buyer", first.buyer})
      step_to(first, "c", {order = ""})
    else
      local till = math.min(now + BOUND.PLACE_OFFER_MS, starts)
      emit({"kind", "registration_offered", "entry", first.id, "buyer", first.buyer, "price_minor", decimal(price),
        "until", decimal(till)})
      step_to(first, "o", {till = till, price = price})
    end
  end
end

local function change_status(to, by_schedule)
  emit({"kind", "registration_status_changed", "status", to, "by_schedule", by_schedule})
  status = to
  promote()
end

local function follow_schedule()
  if status == "scheduled" and now >= opens then change_status("open", "1") end
  if status == "open" and now >= closes then change_status("closed", "1") end
  if status == "closed" and now >= starts then change_status("started", "1") end
end

local function first_due()
  local member = call("ZRANGEBYSCORE", KEYS[7], "-inf", decimal(now), "LIMIT", 0, 1)[1]
  return member and living(string.sub(member, 17)) or nil
end

local function lapse(entry)
  emit({"kind", "registration_offer_lapsed", "entry", entry.id, "buyer", entry.buyer})
  end_entry(entry, HOW.expired)
  promote()
end

-- The buyer's own offer, the one that is named, and, while there are too few free places, the oldest.
local function expire_touched(name, id, is_short)
  if not first_due() then return end
  local function due(entry) return entry and entry.kind == "o" and now >= entry.till and entry or nil end
  local own, named = name and due(entry_of_buyer(name)), id and due(living(id))
  if own then lapse(own) end
  if named and not (own and own.id == named.id) then lapse(named) end
  for _ = 1, BOUND.EXPIRE_DUE_MAX do
    local entry = is_short and is_short() and first_due()
    if not entry then return end
    lapse(entry)
  end
end

local function over()
  if status == "closed" or status == "started" then return NO.registration_closed end
  if status == "cancelled" then return NO.registration_cancelled end
end

-- The entry of this id, and of this buyer if one is named, or why there is none.
local function own_entry(id, name)
  local entry = living(id)
  if not entry then
    local how = ended_as(id)
    if not how then return nil, NO.entry_unknown end
    return nil, how == HOW.expired and NO.expired or NO.released
  end
  if name and entry.buyer ~= name then return nil, NO.not_yours end
  return entry
end
