-- writes what a person prefers
-- $1 user, $2 categories, $3 locations, $4 interests, $5 least price, $6 highest price, $7 notifications
insert into preference (user_id, preferred_categories, preferred_locations, interests, price_range_min, price_range_max,
    notification_settings)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (user_id) do update set preferred_categories = excluded.preferred_categories,
    preferred_locations = excluded.preferred_locations, interests = excluded.interests,
    price_range_min = excluded.price_range_min, price_range_max = excluded.price_range_max,
    notification_settings = excluded.notification_settings
