-- notes a device
-- $1 device, $2 hash of its secret, $3 user, $4 now
insert into known_device (device_id, secret_hash, user_id, seen_ms) values ($1, $2, $3, $4)
