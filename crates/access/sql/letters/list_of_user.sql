-- lists what a person was sent
-- $1 user
select kind, state, created_ms from letter where user_id = $1 order by created_ms, letter_id
