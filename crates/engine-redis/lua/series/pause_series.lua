-- pause_series: no slot is opened until it goes on.
-- EMITS  SeriesPaused          COST  2 reads, 2 writes
if status == "ended" then return refuse(NO.series_ended) end
if status == "paused" then return unchanged() end
change_status("paused", "series_paused")
changes.pause = format("%.0f|", now)
return done()
