-- Lists what happened in a tenant, the newest first.
-- $1 tenant, $2 before entry, $3 at most
select entry, at, tenant_number, who, action, subject, address, request_id from audit
where tenant_number = $1 and entry < $2
order by entry desc
limit $3
