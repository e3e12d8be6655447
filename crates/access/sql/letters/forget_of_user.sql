-- forgets the letters to a person
-- $1 user
delete from letter where user_id = $1
