-- finds letters to send now, with what became of their tokens
-- $1 now, $2 a time that no try is put off to, $3 how many
select letter.letter_id, letter.tenant_number, letter.kind, letter.user_id, letter.email, letter.token_id, letter.details,
    letter.created_ms, letter.next_ms, token.purpose, token.expires_ms, letter.tries
from letter left join one_time_token as token on token.token_id = letter.token_id
where letter.state = 'waiting' and (letter.next_ms <= $1 or letter.next_ms > $2)
order by letter.next_ms, letter.letter_id limit $3
