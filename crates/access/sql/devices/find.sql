-- finds a device that somebody signed in from before
-- $1 hash of its secret, $2 user
select device_id from known_device where secret_hash = $1 and user_id = $2
