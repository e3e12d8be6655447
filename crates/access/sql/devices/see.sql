-- notes that a device was used
-- $1 device, $2 now
update known_device set seen_ms = $2 where device_id = $1 and seen_ms < $2
