-- adds a token for one use
-- $1 id, $2 hash, $3 tenant, $4 purpose, $5 user, $6 address, $7 its key, $8 password hash, $9 now, $10 its end
insert into one_time_token
    (token_id, token_hash, tenant_number, purpose, user_id, email, email_key, password_hash, created_ms, expires_ms)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
