-- Finds a tenant.
-- $1 tenant
select tenant_number, name, created, disabled from tenant where tenant_number = $1
