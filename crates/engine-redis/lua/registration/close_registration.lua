-- close_registration: nobody registers or is promoted any more.
-- EMITS  what the calendar brings, RegistrationStatusChanged          COST  2 reads, 2 writes
follow_schedule()
if status == "cancelled" then return refuse(NO.registration_cancelled) end
if status == "closed" or status == "started" then return unchanged() end
change_status("closed", "0")
return done()
