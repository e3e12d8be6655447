-- Forgets keys that have opened nothing for a long time.
-- $1 before
delete from api_key where revoked < $1 or expires < $1
