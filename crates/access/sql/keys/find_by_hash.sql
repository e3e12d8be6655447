-- Finds whom a key belongs to.
-- $1 hash
select
    api_key.key_id, api_key.family, api_key.tenant_number, api_key.kind, api_key.is_test, api_key.name, api_key.shown,
    api_key.scopes, api_key.created, api_key.created_by, api_key.expires, api_key.revoked, api_key.replaced_by,
    api_key.last_used,
    tenant.disabled is not null
from api_key join tenant on tenant.tenant_number = api_key.tenant_number
where api_key.hash = $1
