-- adds what a person likes
-- $1 user, $2 listing, $3 now
insert into favourite (user_id, listing, created_ms) values ($1, $2, $3) on conflict (user_id, listing) do nothing
