-- Makes a key.
-- $1 key, $2 hash, $3 family, $4 tenant, $5 kind, $6 test, $7 name, $8 shown, $9 scopes, $10 created, $11 by, $12 expires
insert into api_key
    (key_id, hash, family, tenant_number, kind, is_test, name, shown, scopes, created, created_by, expires)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
