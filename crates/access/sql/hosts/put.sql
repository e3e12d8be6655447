-- Gives a host to a tenant.
-- $1 host, $2 tenant
insert into host (name, tenant_number) values ($1, $2)
on conflict (name) do update set tenant_number = excluded.tenant_number
