-- Writes down who did what.
-- $1 at, $2 tenant, $3 who, $4 action, $5 subject, $6 address, $7 request
insert into audit (at, tenant_number, who, action, subject, address, request_id)
values ($1, $2, $3, $4, $5, $6, $7)
