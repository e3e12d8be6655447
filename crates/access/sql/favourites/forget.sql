-- forgets what a person likes
-- $1 user
delete from favourite where user_id = $1
