-- reads a session that is about to change
-- $1 session
select token_hash, user_id, tenant_number from session where session_id = $1
for update
