-- forgets tokens that are over
-- $1 now, $2 how many
delete from one_time_token where token_id in (select token_id from one_time_token where expires_ms <= $1 limit $2)
