-- forgets what a person prefers
-- $1 user
delete from preference where user_id = $1
