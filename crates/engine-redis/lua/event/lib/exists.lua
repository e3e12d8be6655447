-- event/lib/exists: the listing is there, an event, and laid out as these scripts know it.
if not layout then
  return {4, {NO.listing_unknown, "", ""}, epoch, offset, now, 0, {}}
end
if layout == "venue" then
  return {4, {NO.wrong_kind, "", ""}, epoch, offset, now, 0, {}}
end
if layout ~= LAYOUT then
  return {5, {"layout", layout}, epoch, offset, now, 0, {}}
end
