-- change_sale: details and rules, as the caller made them from the details it knew.
-- ARGV   6 version of the details it knew  7 "same" | "field" | "change"
--        field: 8 field, 9 why          change: 8 rules  9 starts_at  10 ends_at, then the lists: fields of meta, the fact
-- REPLY  0 | 1 | 4 | 5
-- EMITS  SaleStatusChanged*, SaleChanged          COST  2 reads, 3 writes
if details_version ~= ARGV[6] then return retry("versions") end
follow_schedule()
if over() then return refuse(over()) end
if ARGV[7] == "field" then return refuse_field(NO.invalid, ARGV[8], ARGV[9]) end
if ARGV[7] == "same" then return unchanged() end
local new_starts, new_ends = tonumber(ARGV[9]), tonumber(ARGV[10])
-- Codes may live that were made in a sale which now would not have begun.
if status == "open" and new_starts ~= starts then return refuse(NO.status_conflict) end
if new_ends ~= ends and now >= new_ends then
  return refuse_field(NO.invalid, FIELD.ends_at, "in the future; to end the sale now, close it")
end
at_arg = 11
local fields = list()
for n = 1, #fields, 2 do meta_changes[fields[n]] = fields[n + 1] end
details_version = details_version + 1
later("HSET", KEYS[2], "rules", ARGV[8])
-- The marker is looked up anew: the sale may end earlier.
starts, ends, limit, mark = new_starts, new_ends, tonumber(match(ARGV[8], "^%d+|%d+|(%d+)|")), 0
emit(list())
return done()
