-- Finds a key of a tenant, to change it.
-- $1 tenant, $2 key
select
    api_key.key_id, api_key.family, api_key.tenant_number, api_key.kind, api_key.is_test, api_key.name, api_key.shown,
    api_key.scopes, api_key.created, api_key.created_by, api_key.expires, api_key.revoked, api_key.replaced_by,
    api_key.last_used
from api_key
where tenant_number = $1 and key_id = $2
for update
