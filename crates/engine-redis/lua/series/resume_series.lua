-- resume_series: slots are opened again.
-- EMITS  SeriesResumed          COST  2 reads, 2 writes
if status == "ended" then return refuse(NO.series_ended) end
if status == "running" then return unchanged() end
change_status("running", "series_resumed")
changes.pause = format("%.0f|%.0f", paused, now)
return done()
