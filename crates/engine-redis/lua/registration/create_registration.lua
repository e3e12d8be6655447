-- create_registration: places for something; it is open at once if its hour has come.
-- ARGV   6 epoch  7 opens_at  8 when it closes  9 capacity  10 rules  then the lists: fields of meta, the fact
-- REPLY  0 | 4 listing_exists, invalid | 9
-- EMITS  RegistrationCreated, RegistrationStatusChanged?          COST  3 reads, 4 writes
if layout then return {4, {NO.listing_exists, "", ""}, epoch, offset, now, 0, {}} end
if not is_vacant(3) then return damaged() end
epoch = tonumber(arg())
local opens, closes, capacity, rules, fields = tonumber(arg()), tonumber(arg()), arg(), arg(), list()
if now >= closes then
  return {4, {NO.invalid, "", "field", FIELD.starts_at, "later than now by more than the cut-off"}, 0, 0, now, 0, {}}
end
call("HSET", KEYS[1], unpack(fields))
call("HSET", KEYS[2], "rules", rules)
local facts, status = {list()}, "scheduled"
if now >= opens then
  status = "open"
  facts[2] = {"kind", "registration_status_changed", "status", status, "by_schedule", "1"}
end
return write_created(facts, "registration", format("%s|0|0|%s|1|0|0", status, capacity))
