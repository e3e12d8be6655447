-- cancel_registration: sweeps take every place back and refund what was paid.
-- EMITS  what the calendar brings, RegistrationStatusChanged          COST  2 reads, 2 writes
follow_schedule()
if status == "cancelled" then return unchanged() end
if status == "started" then return refuse(NO.registration_closed) end
change_status("cancelled", "0")
return done()
