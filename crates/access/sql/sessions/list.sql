-- lists the sessions of a person, the last used first
-- $1 user
select session_id, device_id, device_type, device_name, address, user_agent, is_remembered, created_ms, last_used_ms, expires_ms, idle_ms
from session where user_id = $1 order by last_used_ms desc, session_id
