-- delete_listing: a listing that never sold or promised anything is gone. Its facts stay for those who ask again under the same
-- key, and so does a head that says so: its id is never given again.
-- REPLY  0 | 4 listing_unknown, listing_in_use
-- EMITS  ListingDeleted          COST  up to 5 reads, 6 writes
if not layout then return {4, {NO.listing_unknown, "", ""}, epoch, offset, now, 0, {}} end
if is_in_use() then return {4, {NO.listing_in_use, "", ""}, epoch, offset, now, 0, {}} end
local created_at = call("HGET", KEYS[1], "created_at") or "0"
local written = write_new({{"kind", "listing_deleted"}}, layout, "deleted|0|0|0|0|0|0")
local head = call("HGET", KEYS[2], "head")
call("DEL", KEYS[1], KEYS[2], KEYS[11], KEYS[12], unpack(KEYS, 3, 9))
call("HSET", KEYS[2], "head", head)
call("HSET", KEYS[1], "created_at", created_at)
return written
