-- forgets a guest, of whom nothing is left
-- $1 user
delete from person where user_id = $1 and state = 'guest'
