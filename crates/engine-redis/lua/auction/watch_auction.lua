-- watch_auction: somebody wants to hear of it.
-- ARGV   6 watcher
-- EMITS  what the clock brings, WatchStarted          COST  4 reads, 3 writes
close_due()
if call("HEXISTS", KEYS[4], ARGV[6]) == 1 then return unchanged() end
if status == "cancelled" then return refuse(NO.auction_cancelled) end
if status == "closed" then return refuse(NO.over) end
local watchers = call("HLEN", KEYS[4])
if watchers >= BOUND.WATCHERS_MAX then return refuse_limit(NO.watchers_full, BOUND.WATCHERS_MAX, watchers) end
later("HSET", KEYS[4], ARGV[6], "1")
emit({"kind", "watch_started", "watcher", ARGV[6]})
return done()
