-- makes a guest an account
-- $1 user, $2 tenant, $3 address, $4 its key, $5 password hash, $6 now
update person set state = 'active', email = $3, email_key = $4, password_hash = $5, changed_ms = $6
where user_id = $1 and tenant_number = $2 and state = 'guest'
