-- lists the sessions of a person, the last used first
-- $1 user
select session.session_id, session.device_id, session.device_type, session.device_name, session.address, session.user_agent,
    session.is_remembered, session.created_ms, session.last_used_ms, session.expires_ms, session.idle_ms, person.roles
from session join person on person.user_id = session.user_id
where session.user_id = $1
order by session.last_used_ms desc, session.session_id
