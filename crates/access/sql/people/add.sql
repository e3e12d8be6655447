-- adds a guest or an account
-- $1 user, $2 tenant, $3 state, $4 address, $5 its key, $6 password hash, $7 roles, $8 now
insert into person (user_id, tenant_number, state, email, email_key, password_hash, roles, created_ms, changed_ms)
values ($1, $2, $3, $4, $5, $6, $7, $8, $8)
