-- takes a letter for a while: of two who try, one does
-- $1 letter, $2 when it was due, $3 until when
update letter set next_ms = $3, tries = tries + 1 where letter_id = $1 and next_ms = $2 and state = 'waiting'
