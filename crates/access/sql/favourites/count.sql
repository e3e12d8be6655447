-- counts what a person likes
-- $1 user
select count(*) from favourite where user_id = $1
