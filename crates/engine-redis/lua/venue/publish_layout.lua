-- publish_layout: the next version of a venue's layout; twenty are kept for events to adopt.
-- ARGV   6 layout
-- REPLY  0 | 4
-- EMITS  LayoutPublished          COST  2 reads, 4 writes
if not layout then return {4, {NO.listing_unknown, "", ""}, epoch, offset, now, 0, {}} end
local version = layout_version + 1
call("HLEN", KEYS[5])
local written = write_new({{"kind", "layout_published", "version", tostring(version), "layout", ARGV[6]}}, "venue",
  "|0|0|0|0|" .. version .. "|0")
call("HSET", KEYS[5], version, ARGV[6])
call("HDEL", KEYS[5], version - BOUND.LAYOUTS_KEPT)
return written
