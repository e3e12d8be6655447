-- adds a session
-- $1 session, $2 hash of the token, $3 tenant, $4 user, $5 device, $6 its type, $7 its name, $8 address, $9 user agent, $10 whether remembered, $11 idle ms, $12 now, $13 its end
insert into session (session_id, token_hash, tenant_number, user_id, device_id, device_type, device_name, address, user_agent,
    is_remembered, idle_ms, created_ms, last_used_ms, expires_ms)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13)
