-- unwatch_auction: a watcher goes.
-- ARGV   6 watcher
-- EMITS  what the clock brings, WatchEnded          COST  2 reads, 3 writes
close_due()
if call("HEXISTS", KEYS[4], ARGV[6]) == 0 then return unchanged() end
later("HDEL", KEYS[4], ARGV[6])
emit({"kind", "watch_ended", "watcher", ARGV[6]})
return done()
