-- The newest number, and what was changed after another; one row with nothing if that is nothing.
-- $1 after number, $2 at most
select counter.number, change.number, change.kind, change.subject
from counter left join change on change.number > $1
where counter.name = 'change'
order by change.number
limit $2
