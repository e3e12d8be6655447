-- refuse_command: a command that no state could make sense of; only its key and its listing are looked at.
-- ARGV   6 code of the refusal  7 "create": of a listing that exists the answer is listing_exists
-- REPLY  4          COST  2 reads
local code = tonumber(ARGV[6])
if ARGV[7] == "create" then
  if layout or status == "deleted" then code = NO.listing_exists end
elseif not layout then
  code = NO.listing_unknown
elseif layout == "venue" and ARGV[7] ~= "venue" then
  code = NO.wrong_kind
end
return {4, {code, "", ""}, epoch, offset, now, 0, {}}
