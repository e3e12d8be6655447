-- end_series: for good.
-- EMITS  SeriesEnded          COST  2 reads, 2 writes
if status == "ended" then return unchanged() end
change_status("ended", "series_ended")
return done()
