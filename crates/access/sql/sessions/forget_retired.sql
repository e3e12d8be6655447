-- forgets the tokens that a session had
-- $1 session
delete from retired_token where session_id = $1
