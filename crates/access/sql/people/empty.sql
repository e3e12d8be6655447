-- empties what is personal; the id stays
-- $1 user, $2 roles that everybody has, $3 now
update person set state = 'deleted', email = null, email_key = null, password_hash = null, roles = $2, changed_ms = $3
where user_id = $1
