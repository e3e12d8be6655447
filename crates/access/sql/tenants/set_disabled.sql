-- Disables a tenant, or lets it in again.
-- $1 tenant, $2 since, or nothing
update tenant set disabled = $2 where tenant_number = $1
