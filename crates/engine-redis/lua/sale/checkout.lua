-- checkout: reserves units of one or several SKUs, all or nothing, the price fixed now.
-- ARGV   6 code  7 buyer  8 lines as the buyer listed them "3:1,5:2,3:1"  9 how long it lives, ms ("": the sale's rule)
-- REPLY  0 | 4
-- EMITS  what expires, CheckedOut          COST  5 reads, 6 writes, O(lines)
local id, buyer_name = ARGV[6], ARGV[7]
-- Each SKU once, in the order of its first line.
local asked, place = {}, {}
for _, line in ipairs(read_counts(ARGV[8])) do
  local known = place[line[1]]
  if known then
    known[2] = known[2] + line[2]
  else
    asked[#asked + 1] = line
    place[line[1]] = line
  end
end
follow_schedule()
-- Nothing can be reserved outside the sale's hours, so nothing has to make room.
expire_touched(buyer_name, nil, status == "open" and asked)
if status == "scheduled" then return refuse(NO.sale_not_started) end
if over() then return refuse(over()) end
local unknown = unknown_skus(asked)
if #unknown > 0 then return refuse_all(unknown) end
if code_of(id) or purchase_of(id) or ended_as(id) then return refuse(NO.id_taken) end
for n = 1, #asked do asked[n][3] = level(asked[n][1]).price end
if total(asked) > BOUND.MINOR_MAX then
  return refuse_field(NO.invalid, FIELD.lines, WHY.TOTAL_MAX)
end
local in_the_way = obstacles(asked)
if #in_the_way > 0 then return refuse_all(in_the_way) end
local buyer = buyer_of(buyer_name)
local taken = buyer.reserved + buyer.bought
if taken + units(asked) > limit then return refuse_limit(NO.buyer_limit, limit, taken) end
local till = now + (tonumber(ARGV[9]) or checkout_ms)
local fence = emit({"kind", "checked_out", "checkout", id, "buyer", buyer_name, "lines", write_lines(asked), "until",
  decimal(till)})
add_code({kind = "c", id = id, fence = fence, placed = now, till = till, order = "", lines = asked, buyer = buyer_name})
return done()
