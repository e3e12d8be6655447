-- change_registration: details and rules, as the caller made them from the details it knew.
-- ARGV   6 version of the details it knew  7 "same" | "field" | "change"
--        field: 8 field, 9 why          change: 8 rules, then the lists: fields of meta, the fact
-- REPLY  0 | 1 | 4 | 5
-- EMITS  what the calendar brings, RegistrationChanged, promotions          COST  3 reads, 4 writes
if details_version ~= ARGV[6] then return retry("versions") end
follow_schedule()
if over() then return refuse(over()) end
if ARGV[7] == "field" then return refuse_field(NO.invalid, ARGV[8], ARGV[9]) end
if ARGV[7] == "same" then return unchanged() end
local new_opens, new_closes, new_starts, new_price, new_checkout = match(ARGV[8], "^(%d+)|(%d+)|(%d+)|(%d+)|(%d+)$")
new_opens, new_closes, new_starts = tonumber(new_opens), tonumber(new_closes), tonumber(new_starts)
if status == "open" and new_opens ~= opens then return refuse(NO.status_conflict) end
if new_closes ~= closes and now >= new_closes then
  return refuse_field(NO.invalid, FIELD.starts_at, "later than now by more than the cut-off")
end
-- Nobody keeps an offer into the start.
local latest = tonumber(call("ZRANGE", KEYS[7], -1, -1, "WITHSCORES")[2])
if latest and latest > new_starts then
  return refuse_field(NO.invalid, FIELD.starts_at, "not before the end of a living offer")
end
at_arg = 9
write("HSET", KEYS[1], unpack(list()))
write("HSET", KEYS[2], "rules", ARGV[8])
details_version = details_version + 1
opens, closes, starts, price, checkout_ms = new_opens, new_closes, new_starts, tonumber(new_price), tonumber(new_checkout)
emit(list())
promote()
return done()
