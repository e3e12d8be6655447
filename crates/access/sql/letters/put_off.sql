-- puts a letter off, or gives it up after too many tries
-- $1 letter, $2 when to try again, $3 how many tries
update letter set next_ms = $2, state = case when tries >= $3 then 'given_up' else 'waiting' end
where letter_id = $1 and state = 'waiting'
