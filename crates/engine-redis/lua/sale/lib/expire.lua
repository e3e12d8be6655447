-- sale/lib/expire: the sale's own hours, and what a command makes expire before it is decided.
local function change_status(to, by_schedule)
  emit({"kind", "sale_status_changed", "status", to, "by_schedule", by_schedule})
  status = to
end

local function follow_schedule()
  if status == "scheduled" and now >= starts then change_status("open", "1") end
  if status == "open" and now >= ends then change_status("ended", "1") end
end

local function expire_code(code)
  emit({"kind", "checkout_expired", "checkout", code.id})
  end_code(code, HOW.expired)
  BOOK.goods_gone(code.id, "expired")
end

-- Living codes by (until, fence), those that are due or `all`: a function that tells the next one. What this very
-- command ended is left out.
local function codes_in_order(all)
  local page, at, from = {}, 0, 0
  return function()
    while true do
      at = at + 1
      if not page[at] then
        page = call("ZRANGEBYSCORE", KEYS[7], "-inf", all and "+inf" or decimal(now), "LIMIT", from, 64)
        from, at = from + #page, 1
        if #page == 0 then return nil end
      end
      if due_changes[page[at]] == nil then return code_of(string.sub(page[at], 17)) end
    end
  end
end

local function is_short(wanted)
  for n = 1, #wanted do
    local of = level(wanted[n][1])
    if of and available(of) < wanted[n][2] then return true end
  end
  return false
end

-- The buyer's own due codes, the code that is named, and, while there is too little of what is wanted, whatever is due.
local function expire_touched(buyer_name, id, wanted)
  -- The marker is never behind the first deadline.
  if mark > now or not codes_in_order()() then return end
  if buyer_name then
    local own = {}
    for _, of_buyer in ipairs(buyer_of(buyer_name).codes) do
      local code = code_of(of_buyer)
      if now >= code.till then own[#own + 1] = code end
    end
    table.sort(own, function(one, other)
      if one.till ~= other.till then return one.till < other.till end
      return one.fence < other.fence
    end)
    for n = 1, #own do expire_code(own[n]) end
  end
  local named = id and code_of(id)
  if named and now >= named.till then expire_code(named) end
  if not wanted then return end
  local next_code = codes_in_order()
  for _ = 1, BOUND.EXPIRE_DUE_MAX do
    local code = is_short(wanted) and next_code()
    if not code then return end
    expire_code(code)
  end
end
