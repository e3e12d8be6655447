-- Forgets some answers that are over.
-- $1 now, $2 at most
delete from answer where scope in (select scope from answer where expires <= $1 order by expires limit $2)
