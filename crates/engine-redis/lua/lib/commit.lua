-- lib/commit: everything that was decided is written here, the facts last.
-- Only a hint for sweepers: the marker ends at the next deadline. When it has ended, the next is looked up.
local function commit_marker(first)
  if mark <= now then
    local next_due = call("ZRANGE", KEYS[7], 0, 0, "WITHSCORES")[2]
    first = next_due and math.max(tonumber(next_due), now + 1) or nil
  end
  if first and (first < mark or mark <= now) then
    call("SET", KEYS[11], decimal(first), "PX", decimal(first - now))
    mark = first
  end
end

local function commit(is_yes)
  if #facts == 0 then return end
  commit_seats(hold_of)
  commit_queues()
  commit_orders()
  forget_ended(ended)
  commit_things()
  commit_marker(commit_due())
  call("HSET", KEYS[2], "head", format("%s|%.0f|%.0f|%.0f|%s|%d|%.0f|%d|%s|%s|%s", LAYOUT, epoch, offset, now, status,
    queued_then, mark, seats_len, details_version, chart_version, buckets))
  local set = {}
  for name, value in pairs(meta_changes) do
    set[#set + 1] = name
    set[#set + 1] = value
  end
  for index in pairs(areas_dirty) do
    set[#set + 1] = "area:" .. index
    set[#set + 1] = write_area(areas[index])
  end
  if #set > 0 then call("HSET", KEYS[1], unpack(set)) end
  local first, step = offset - #facts + 1, format("%.0f|%d", now, #facts)
  if is_yes and ARGV[2] ~= "" then
    call("SET", KEYS[13], format("%.0f|%.0f|%d|%.0f|%s", epoch, first, #facts, now, ARGV[4]), "PX", ARGV[4])
    if ARGV[5] == "1" then step = step .. "|" .. ARGV[2] .. "|" .. ARGV[3] end
  end
  table.insert(facts[1], 1, step)
  table.insert(facts[1], 1, "step")
  for n = 1, #facts do
    call("XADD", KEYS[10], format("%.0f-%.0f", epoch, first + n - 1), unpack(facts[n]))
  end
end

local function answer(outcome, detail)
  commit(outcome == 0)
  return {outcome, detail, epoch, offset, now, 0, facts}
end

-- The verb's own fact was taken.
local function done() return answer(0, {}) end
local function unchanged() return answer(1, {}) end

local function refuse(code) return answer(4, {code, "", ""}) end
local function refuse_field(code, field, why) return answer(4, {code, "", "field", field, why}) end
local function refuse_limit(code, max, taken) return answer(4, {code, "", "limit", max, taken}) end
local function refuse_order(code, id) return answer(4, {code, "", "order", id}) end

-- Everything in the way, in the order asked: "s12:22,a0:24"; the smallest code takes precedence.
local function refuse_all(in_the_way)
  local code, parts = 255, {}
  for n, one in ipairs(in_the_way) do
    code = math.min(code, one[3])
    parts[n] = one[1] .. one[2] .. ":" .. one[3]
  end
  return answer(4, {code, table.concat(parts, ","), ""})
end

-- Nothing was written: what the caller knew has moved.
local function retry(what)
  return {5, {what}, epoch, offset, now, 0, {}}
end
