-- finds sessions that are over, by age or because nobody used them
-- $1 now, $2 how many
select session_id, user_id, tenant_number from session
where expires_ms <= $1 or last_used_ms + idle_ms <= $1 limit $2
