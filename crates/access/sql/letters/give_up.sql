-- gives a letter up; its address is not kept
-- $1 letter
update letter set state = 'given_up', email = '', details = '' where letter_id = $1 and state = 'waiting'
