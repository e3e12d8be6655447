-- registration/lib/registered: a buyer is answered with what they have already.
local function already_registered(entry)
  local ahead = entry.kind == "w" and call("ZRANK", KEYS[3], entry.id) or 0
  return answer(8, {entry.id, entry.buyer, decimal(entry.fence), entry.kind, decimal(entry.till or 0),
    decimal(entry.price or 0), ahead, entry.order or ""})
end
