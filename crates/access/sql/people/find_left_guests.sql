-- finds guests who have no session any more
-- $1 made before, $2 how many
select user_id from person
where state = 'guest' and created_ms < $1
and not exists (select 1 from session where session.user_id = person.user_id)
order by created_ms limit $2
