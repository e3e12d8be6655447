-- forgets a letter
-- $1 letter
delete from letter where letter_id = $1
