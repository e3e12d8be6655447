-- begins to count
-- $1 what is counted, $2 now
insert into attempt (subject, failures, last_ms, free_ms) values ($1, 0, $2, 0) on conflict (subject) do nothing
