-- change_auction: details and terms, as the caller made them from the details it knew.
-- ARGV   6 version of the details it knew  7 "1": times and terms stay as they are  8 "same" | "field" | "change"
--        field: 9 field, 10 why          change: 9 rules  10 ends_at, then the lists: fields of meta, the fact
-- REPLY  0 | 1 | 4 | 5
-- EMITS  what the clock brings, AuctionChanged          COST  2 reads, 4 writes
if details_version ~= ARGV[6] then return retry("versions") end
close_due()
local why = not_open()
if why and why ~= NO.not_started then return refuse(why) end
local same_terms = ARGV[7] == "1"
if not why and not same_terms then return refuse(NO.status_conflict) end
if ARGV[8] == "field" then return refuse_field(NO.invalid, ARGV[9], ARGV[10]) end
if ARGV[8] == "same" then return unchanged() end
-- What soft close has done to a running auction's end is no business of its description.
if not same_terms then
  local new_ends = tonumber(ARGV[10])
  if now >= new_ends then return refuse_field(NO.invalid, FIELD.ends_at, "in the future") end
  ends = new_ends
end
at_arg = 11
call("HLEN", KEYS[1])
later("HSET", KEYS[1], unpack(list()))
later("HSET", KEYS[2], "rules", ARGV[9])
details_version = details_version + 1
emit(list())
return done()
