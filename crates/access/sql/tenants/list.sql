-- Lists tenants.
-- $1 after tenant, $2 at most
select tenant_number, name, created, disabled from tenant
where tenant_number > $1
order by tenant_number
limit $2
