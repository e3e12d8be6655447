-- forgets all but the last tokens that a session had
-- $1 session, $2 how many stay
delete from retired_token where session_id = $1 and token_hash not in (
    select token_hash from retired_token where session_id = $1 order by retired_ms desc limit $2
)
