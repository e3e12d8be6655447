-- notes a token that was rotated away
-- $1 its hash, $2 session, $3 salt, $4 now
insert into retired_token (token_hash, session_id, salt, retired_ms) values ($1, $2, $3, $4)
