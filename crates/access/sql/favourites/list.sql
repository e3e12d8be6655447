-- lists what a person likes, the newest first
-- $1 user
select listing, created_ms from favourite where user_id = $1 order by created_ms desc, listing
