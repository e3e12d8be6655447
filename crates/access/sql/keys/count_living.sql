-- Counts the keys of a tenant that open something.
-- $1 tenant, $2 now
select count(*) from api_key where tenant_number = $1 and revoked is null and (expires is null or expires > $2)
