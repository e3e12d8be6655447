-- counts the devices of a person
-- $1 user
select count(*) from known_device where user_id = $1
