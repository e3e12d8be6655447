-- adds a letter
-- $1 letter, $2 tenant, $3 kind, $4 user, $5 address, $6 token, $7 details, $8 now
insert into letter (letter_id, tenant_number, kind, user_id, email, token_id, details, state, tries, created_ms, next_ms)
values ($1, $2, $3, $4, $5, $6, $7, 'waiting', 0, $8, $8)
