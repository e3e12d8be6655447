-- lib/due: every deadline in (until, fence) order: the score is the time, the member begins with the fence.
local due_changes = {}

local function due_member(kind, thing)
  return format("%016.0f%s%s", thing.fence, kind, thing.id)
end

-- What is over, oldest first, from `from` on: {kind, id} each. What this very command took away is left out.
local function over(from, count)
  local members = call("ZRANGEBYSCORE", KEYS[7], "-inf", decimal(now), "LIMIT", from, count)
  local all = {}
  for n = 1, #members do
    if due_changes[members[n]] == nil then
      all[#all + 1] = {string.sub(members[n], 17, 17), string.sub(members[n], 18)}
    end
  end
  return all, #members
end

local function commit_due()
  local set, gone, first = {}, {}, nil
  for member, ends in pairs(due_changes) do
    if ends then
      set[#set + 1] = decimal(ends)
      set[#set + 1] = member
      if not first or ends < first then first = ends end
    else
      gone[#gone + 1] = member
    end
  end
  for from = 1, #set, CHUNK do call("ZADD", KEYS[7], unpack(set, from, math.min(from + CHUNK - 1, #set))) end
  for from = 1, #gone, CHUNK do call("ZREM", KEYS[7], unpack(gone, from, math.min(from + CHUNK - 1, #gone))) end
  return first
end
