-- Renames a tenant.
-- $1 tenant, $2 name
update tenant set name = $2 where tenant_number = $1
