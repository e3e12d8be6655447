-- gives a session another token
-- $1 session, $2 hash of the old token, $3 hash of the new one
update session set token_hash = $3 where session_id = $1 and token_hash = $2
