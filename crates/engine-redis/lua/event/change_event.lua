-- change_event: details, price list and rules, as the caller made them from the details it knew.
-- ARGV   6 versions of the details and the chart it knew, "3|1"  7 "same" | "field" | "change"
--        field: 8 field, 9 why          change: 8 rules, then the lists: fields of meta, the fact
-- REPLY  0 | 1 | 4 | 5
-- EMITS  StatusChanged*, EventChanged          COST  2 reads, 2 writes
if details_version .. "|" .. chart_version ~= ARGV[6] then return retry("versions") end
follow_schedule()
if status == "completed" or status == "cancelled" then return refuse(NO.status_conflict) end
if ARGV[7] == "field" then return refuse_field(NO.invalid, ARGV[8], ARGV[9]) end
if ARGV[7] == "same" then return unchanged() end
at_arg = 9
local fields = list()
for n = 1, #fields, 2 do meta_changes[fields[n]] = fields[n + 1] end
details_version = details_version + 1
later("HSET", KEYS[2], "rules", ARGV[8])
emit(list())
return done()
