-- lists accounts in the order of their ids
-- $1 tenant, $2 after this id, $3 how many
select user_id, tenant_number, state, email, email_key, password_hash, roles, created_ms
from person where tenant_number = $1 and user_id > $2 and state in ('active', 'disabled')
order by user_id limit $3
