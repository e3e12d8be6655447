-- finds a person who is about to change
-- $1 user, $2 tenant
select user_id, tenant_number, state, email, email_key, password_hash, roles, created_ms
from person where user_id = $1 and tenant_number = $2
for update
