-- puts a new password hash in the place of the old one
-- $1 user, $2 the old hash, $3 the new hash, $4 now
update person set password_hash = $3, changed_ms = $4
where user_id = $1 and password_hash = $2 and state = 'active'
