-- cancel_sale: from now on nothing is sold; sweeps take back every code and refund every purchase.
-- EMITS  SaleStatusChanged*          COST  1 read, 1 write
follow_schedule()
if status == "cancelled" then return unchanged() end
change_status("cancelled", "0")
return done()
