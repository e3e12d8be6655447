-- Finds the tenant of a host, and whether it is disabled; the default tenant's where nobody has the host.
-- $1 host
select tenant.tenant_number, tenant.disabled is not null
from tenant left join host on host.tenant_number = tenant.tenant_number and host.name = $1
where host.name is not null or tenant.tenant_number = 0
order by host.name is null
limit 1
