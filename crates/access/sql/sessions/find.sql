-- finds a session by its token, also by one that was rotated away
-- $1 hash of the token
select session.session_id, session.tenant_number, session.user_id, session.idle_ms, session.last_used_ms, session.expires_ms,
    person.roles, person.state, token.retired_ms
from (
    select session_id, cast(null as bigint) as retired_ms from session where token_hash = $1
    union all
    select session_id, retired_ms from retired_token where token_hash = $1
) as token
join session on session.session_id = token.session_id
join person on person.user_id = session.user_id
