-- forgets what an address was sent
-- $1 tenant, $2 key of the address, $3 purpose
delete from one_time_token where tenant_number = $1 and email_key = $2 and purpose = $3
