-- reads a count that is about to change
-- $1 what is counted
select failures, last_ms, free_ms from attempt where subject = $1
for update
