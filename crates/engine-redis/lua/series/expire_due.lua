-- expire_due: nothing of a series falls due by itself.
-- REPLY  1          COST  2 reads
return unchanged()
