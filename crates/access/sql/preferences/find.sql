-- finds what a person prefers
-- $1 user
select preferred_categories, preferred_locations, interests, price_range_min, price_range_max, notification_settings
from preference where user_id = $1
