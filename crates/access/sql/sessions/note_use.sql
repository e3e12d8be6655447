-- notes the last use, at most once in a while, and never an earlier one
-- $1 session, $2 when, $3 only if the noted one is before
update session set last_used_ms = $2 where session_id = $1 and last_used_ms <= $3
