-- puts a new address in the place of the old one
-- $1 user, $2 address, $3 its key, $4 now
update person set email = $2, email_key = $3, changed_ms = $4 where user_id = $1 and state = 'active'
