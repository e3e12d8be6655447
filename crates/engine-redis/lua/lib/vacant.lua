-- lib/vacant: a listing is made only where nothing is. A key that is there without a head is what is left of a listing, or
-- another program's: the listing is damaged, and nothing of it is deleted or written over. Two keys are nothing by
-- themselves: a marker, which is a hint and ends by itself, and a desk's lease, which is older than the desk.
-- The id of a listing that was deleted stays taken.
if status == "deleted" then return {4, {NO.listing_exists, "", ""}, epoch, offset, now, 0, {}} end

local function is_vacant(from)
  local marker = call("TYPE", KEYS[11]).ok
  return (marker == "none" or marker == "string")
    and call("EXISTS", KEYS[1], KEYS[2], KEYS[12], unpack(KEYS, from, 10)) == 0
end

-- Nothing was written: the head is gone, and something else is there.
local function damaged() return {9, {}, epoch, offset, now, 0, {}} end
