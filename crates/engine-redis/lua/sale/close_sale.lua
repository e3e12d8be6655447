-- close_sale: ends the sale before its time; living codes keep their deadlines.
-- EMITS  SaleStatusChanged*          COST  1 read, 1 write
follow_schedule()
if status == "cancelled" then return refuse(NO.sale_cancelled) end
if status == "ended" then return unchanged() end
change_status("ended", "0")
return done()
