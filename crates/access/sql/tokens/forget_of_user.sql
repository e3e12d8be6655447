-- forgets the tokens that a person was sent
-- $1 user
delete from one_time_token where user_id = $1
