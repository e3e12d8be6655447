-- sets the roles of an account
-- $1 user, $2 roles, $3 now
update person set roles = $2, changed_ms = $3 where user_id = $1
