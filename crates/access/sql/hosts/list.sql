-- Lists hosts.
-- $1 after host, $2 at most
select name, tenant_number from host where name > $1 order by name limit $2
