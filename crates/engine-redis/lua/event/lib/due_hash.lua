-- event/lib/due_hash: every deadline in (until, fence) order: the score is the time, the member begins with the fence.
local due_changes = {}

local function due_member(kind, thing)
  return format("%016.0f%s%s", thing.fence, kind, thing.id)
end

local function due_add(kind, thing) due_changes[due_member(kind, thing)] = thing.ends end
local function due_remove(kind, thing) due_changes[due_member(kind, thing)] = false end

-- What is over (or `all` there is), oldest first, from the `from`th on: {kind, id} each, and how many were looked at.
-- What this very command took away is left out.
local function over(from, count, all)
  local members = call("ZRANGEBYSCORE", KEYS[7], "-inf", all and "+inf" or decimal(now), "LIMIT", from, count)
  local found = {}
  for n = 1, #members do
    if due_changes[members[n]] == nil then
      found[#found + 1] = {string.sub(members[n], 17, 17), string.sub(members[n], 18)}
    end
  end
  return found, #members
end

-- Whether anything falls due after `from` and until now.
local function due_since(from)
  return call("ZCOUNT", KEYS[7], "(" .. decimal(from), decimal(now)) > 0
end

-- Nothing to read before the first write.
function LATER.prepare_due() end

-- Writes the changes; returns the earliest new deadline.
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
