-- Notes when a key was used last.
-- $1 key, $2 used
update api_key set last_used = $2 where key_id = $1 and (last_used is null or last_used < $2)
