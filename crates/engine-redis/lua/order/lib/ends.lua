-- order/lib/ends: what the end of the goods means for the order that has taken them. The book of orders stands in the
-- hash of what is sold: `b:<order>` an order as one text (order/lib/book takes it apart), `g:<goods>` the living order of
-- a hold, code, entry or award, `p:<payment>` the order that it pays, `book` the time of the last fact about any order; of what is kept for days (order/lib/kept)
-- `f:<goods><buyer>` when it first was to end, if somebody ever paid for it, and `e:<entry>` the order that bought it.
local BOOK = {known = {}, dirty = {}}

function BOOK.get(field)
  local known = BOOK.known[field]
  if known == nil then
    known = call("HGET", KEYS[5], field)
    BOOK.known[field] = known
  end
  return known
end

function BOOK.set(field, text)
  BOOK.known[field] = text
  BOOK.dirty[field] = true
end

-- The goods are gone, and with them the order that had taken them. An order in which no money ever was is forgotten
-- after a while: until then it stands among the open ones by minus the time of its end.
function BOOK.goods_gone(goods, to)
  local id = BOOK.get("g:" .. goods)
  if not id then return end
  local text = string.gsub(BOOK.get("b:" .. id), "^%l+|%d*", to .. "|" .. decimal(now))
  BOOK.set("g:" .. goods, false)
  BOOK.set("b:" .. id, text)
  if not string.find(text, "\n", 1, true) then open_changes[id] = -now end
end

-- Of a listing whose orders are all in the book, where nothing else stands among the open ones.
function BOOK.commit_all()
  BOOK.commit()
  for id, score in pairs(open_changes) do
    if score then call("ZADD", KEYS[6], decimal(score), id) else call("ZREM", KEYS[6], id) end
  end
end

function BOOK.commit()
  for field in pairs(BOOK.dirty) do
    local text = BOOK.known[field]
    if text then call("HSET", KEYS[5], field, text) else call("HDEL", KEYS[5], field) end
  end
end
