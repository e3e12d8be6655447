-- Lists the hosts of a tenant.
-- $1 tenant, $2 at most
select name from host where tenant_number = $1 order by name limit $2
