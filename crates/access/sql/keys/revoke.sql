-- Ends a key now.
-- $1 tenant, $2 key, $3 now
update api_key set revoked = $3 where tenant_number = $1 and key_id = $2 and revoked is null
