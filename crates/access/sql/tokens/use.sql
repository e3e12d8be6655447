-- uses a token: of two who try at once, one finds it
-- $1 hash, $2 tenant, $3 purpose, $4 now
delete from one_time_token
where token_hash = $1 and tenant_number = $2 and purpose = $3 and expires_ms > $4
returning token_id, user_id, email, password_hash
