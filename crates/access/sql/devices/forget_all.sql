-- forgets the devices of a person
-- $1 user
delete from known_device where user_id = $1
