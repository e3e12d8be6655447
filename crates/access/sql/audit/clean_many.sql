-- Forgets some of the oldest, if there are too many.
-- $1 how many stay, $2 at most
delete from audit where entry in (
    select entry from audit
    where entry <= (select entry from audit order by entry desc limit 1 offset $1)
    order by entry
    limit $2
)
