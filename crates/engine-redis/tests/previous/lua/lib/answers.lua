-- lib/answers: what a verb ends with; `commit` writes what was decided.
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

-- Everything in the way, in the order asked: "s12:22,a0:24", SKUs as "k3:48"; the smallest code takes precedence.
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
