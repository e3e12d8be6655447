-- forgets all but the last devices of a person
-- $1 user, $2 how many stay
delete from known_device where user_id = $1 and device_id not in (
    select device_id from known_device where user_id = $1 order by seen_ms desc, device_id limit $2
)
