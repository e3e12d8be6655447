-- Makes a tenant.
-- $1 tenant, $2 name, $3 created
insert into tenant (tenant_number, name, created) values ($1, $2, $3)
