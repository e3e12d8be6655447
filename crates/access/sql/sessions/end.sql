-- ends a session
-- $1 session, $2 its user
delete from session where session_id = $1 and user_id = $2
