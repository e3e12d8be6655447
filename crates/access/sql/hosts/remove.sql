-- Takes a host away.
-- $1 host
delete from host where name = $1
