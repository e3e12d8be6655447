-- forgets a count
-- $1 what is counted
delete from attempt where subject = $1
