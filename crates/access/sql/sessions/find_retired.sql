-- finds a token that was rotated away
-- $1 its hash
select session_id, salt, retired_ms from retired_token where token_hash = $1
