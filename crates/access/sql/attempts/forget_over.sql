-- forgets counts that nobody added to for long
-- $1 last before, $2 how many
delete from attempt where subject in (select subject from attempt where last_ms < $1 limit $2)
