-- forgets letters that were sent or given up
-- $1 made before, $2 how many
delete from letter where letter_id in (
    select letter_id from letter where state in ('sent', 'given_up') and created_ms < $1 limit $2
)
