-- Forgets some of what is too old.
-- $1 before, $2 at most
delete from audit where entry in (select entry from audit where at < $1 order by at limit $2)
