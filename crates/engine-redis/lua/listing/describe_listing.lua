-- describe_listing: what a merchant says of a listing, whatever kind it is.
-- ARGV   6 what the caller knew to be said  7 what shall be said; both as one text (src/facts/listing.rs)
-- REPLY  0 | 1 | 4 listing_unknown | 5 what is said has changed meanwhile
-- EMITS  ListingDescribed          COST  2 reads, 3 writes
if not layout then return {4, {NO.listing_unknown, "", ""}, epoch, offset, now, 0, {}} end
local said = call("HGET", KEYS[1], "about") or ""
if said ~= ARGV[6] then return {5, {"about"}, epoch, offset, now, 0, {}} end
if said == ARGV[7] then return {1, {}, epoch, offset, now, 0, {}} end
local written = write_new({{"kind", "listing_described", "about", ARGV[7]}}, layout,
  match(values[1], "^%l+|%d+|%d+|%d+|(.*)$"))
call("HSET", KEYS[1], "about", ARGV[7])
return written
