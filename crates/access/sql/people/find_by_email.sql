-- finds who has an address
-- $1 tenant, $2 key of the address
select user_id, tenant_number, state, email, email_key, password_hash, roles, created_ms
from person where tenant_number = $1 and email_key = $2
