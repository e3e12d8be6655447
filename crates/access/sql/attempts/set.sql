-- writes a count
-- $1 what is counted, $2 failures, $3 last, $4 free from
update attempt set failures = $2, last_ms = $3, free_ms = $4 where subject = $1
