-- finds a token for one use
-- $1 hash, $2 tenant, $3 purpose, $4 now
select token_id, user_id, email, password_hash from one_time_token
where token_hash = $1 and tenant_number = $2 and purpose = $3 and expires_ms > $4
