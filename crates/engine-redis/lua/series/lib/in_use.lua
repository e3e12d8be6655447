-- series/lib/in_use: whether one of the slots that are remembered has opened a sale: only then its end stands behind it.
local function is_in_use()
  for ends in gmatch(call("HGET", KEYS[2], "slots") or "", "%-?%d+:%-?%d+:(%d*):%l*") do
    if ends ~= "" then return true end
  end
  return false
end
