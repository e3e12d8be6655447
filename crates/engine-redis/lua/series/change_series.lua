-- change_series: name and template, as the caller made them from the details it knew; for sales from the next slot on.
-- ARGV   6 version of the details it knew  7 "same" | "field" | "change"
--        field: 8 field, 9 why          change: 8 rules, then the lists: fields of meta, the fact
-- REPLY  0 | 1 | 4 | 5
-- EMITS  SeriesChanged          COST  2 reads, 3 writes
if details_version ~= ARGV[6] then return retry("versions") end
if status == "ended" then return refuse(NO.series_ended) end
if ARGV[7] == "field" then return refuse_field(NO.invalid, ARGV[8], ARGV[9]) end
if ARGV[7] == "same" then return unchanged() end
at_arg = 9
call("HLEN", KEYS[1])
later("HSET", KEYS[1], unpack(list()))
details_version = details_version + 1
changes.rules = ARGV[8]
emit(list())
return done()
