-- disables or enables an account
-- $1 user, $2 state, $3 now
update person set state = $2, changed_ms = $3 where user_id = $1
