-- lists the sessions of one device
-- $1 device, $2 user
select session_id from session where device_id = $1 and user_id = $2
