-- Takes a scope for this transaction; no row is changed if its answer is there.
-- $1 scope, $2 fingerprint, $3 expires, $4 now
insert into answer (scope, fingerprint, answer, expires) values ($1, $2, null, $3)
on conflict (scope) do update set fingerprint = excluded.fingerprint, answer = null, expires = excluded.expires
where answer.expires <= $4
