-- removes what a person liked
-- $1 user, $2 listing
delete from favourite where user_id = $1 and listing = $2
