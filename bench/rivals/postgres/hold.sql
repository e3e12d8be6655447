-- Hold one seat if nobody has it.
-- $1 seat_id   $2 buyer   $3 until
update seat set status = 'held', buyer = $2, until = $3 where seat_id = $1 and status = 'available'
