-- notes that a letter was sent; its address is not kept
-- $1 letter
update letter set state = 'sent', email = '', details = '' where letter_id = $1 and state = 'waiting'
