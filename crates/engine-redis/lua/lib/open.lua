-- lib/open: reads the listing's head and its rules.
-- KEYS   1 meta  2 locks  3 queue  4 holds  5 orders  6 open_orders  7 due  8 ended  9 chart  10 facts  11 marker
--        12 due_chunks  13 idem
-- ARGV   1 now_ms (0: ask Redis)  2 scope of the key ("": none)  3 fingerprint, both 16 bytes  4 how long the answer is
--        kept, ms  5 "1": the key is the caller's, and stands in the facts; behind that ":" and who acts, if not the buyer
-- REPLY  {outcome, {detail…}, epoch, offset, at, replayed, {fact…}}; outcomes: 0 done, 1 unchanged, 2 already yours,
--        3 still queued, 4 refused, 5 retry, 6 answered before, but the facts are gone from the stream, 9 damaged
local call, match, gmatch, format = redis.call, string.match, string.gmatch, string.format
local values = call("HMGET", KEYS[2], "head", "rules")
