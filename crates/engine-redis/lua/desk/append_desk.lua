-- append_desk: what a server decided about a desk from its replica, if the desk still ends where that was decided. The
-- desk's head is one line, as every listing's; a field of its hash is a cursor `c:<listing>`, a payment or refund
-- `i:<payment>:<n>`, the events of a payment `e:<payment>`, or an event that came `s:<provider, tab, event>`.
-- KEYS   2 head and records  3 lease
-- ARGV   6 position it was decided at: "epoch|offset" ("": there was no desk)  7 the lease it is decided under ("": none
--        is needed)  8 epoch of a new desk  9 when it was decided  10 outcome  11 code of a refusal  then the lists:
--        fields to set, fields to remove, the fact
-- REPLY  0 | 1 | 4 | 5 moved, or fenced: another server has the lease | 9
-- EMITS  the fact          COST  4 reads, 4 writes
local assumed, lease, new_epoch, decided_at = arg(), arg(), arg(), tonumber(arg())
local outcome, code, set, gone, fact = tonumber(arg()), tonumber(arg()), list(), list(), list()
if lease ~= "" and call("HGET", KEYS[3], "held") ~= lease then
  return {5, {"fenced"}, epoch, offset, now, 0, {}}
end
if assumed ~= (layout and format("%s|%.0f", epoch_text, offset) or "") then
  return {5, {"moved"}, epoch, offset, now, 0, {}}
end
if not layout and not is_vacant(4) then return damaged() end
now = decided_at
if outcome ~= 0 then return {outcome, {code, "", ""}, epoch, offset, now, 0, {}} end
-- Nothing may fail behind the fact: what is written and was not read is asked for its type before.
call("HLEN", KEYS[1])
if not layout then epoch = tonumber(new_epoch) end
local written = write_new({fact}, "desk", "|0|0|0|0|0|0")
if not layout then call("HSET", KEYS[1], "created_at", format("%.0f", now)) end
-- Lua's stack takes some thousand values at once; longer lists go in pieces.
for from = 1, #set, 1000 do call("HSET", KEYS[2], unpack(set, from, math.min(from + 999, #set))) end
for from = 1, #gone, 1000 do call("HDEL", KEYS[2], unpack(gone, from, math.min(from + 999, #gone))) end
return written
