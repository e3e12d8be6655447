-- Names the key that takes over, and when this one ends.
-- $1 key, $2 new key, $3 expires
update api_key set replaced_by = $2, expires = $3 where key_id = $1
