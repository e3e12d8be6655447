-- take_tokens: a slice of tokens for one server from each of some buckets; what it has spent in advance is charged even if
-- the bucket is empty, and is a debt then. Sent twice it takes twice: fewer are left, never more.
-- KEYS   buckets of one tenant, each a string: when it is full again, in µs since 1970
-- ARGV   1 now_us (0: ask Redis)   then for each bucket: interval_us   horizon_us   spent   wanted
-- REPLY  for each bucket {granted, remaining, next_in_us, full_in_us}
-- COST   1 read and 1 write for each bucket
local now = tonumber(ARGV[1])
if now == 0 then
  local time = redis.call("TIME")
  now = time[1] * 1000000 + time[2]
end
local reply = {}
for n = 1, #KEYS do
  local at = 4 * n - 2
  local interval, horizon = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local spent, wanted = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local known = tonumber(redis.call("GET", KEYS[n]) or 0)
  -- A clock that jumped back leaves a time far ahead: no more than an empty bucket, and a debt as large.
  local full_at = math.min(math.max(known, now), now + 2 * horizon)
  local has_jumped = known > full_at
  full_at = full_at + spent * interval
  local granted = math.min(wanted, math.max(0, math.floor((now + horizon - full_at) / interval)))
  full_at = full_at + granted * interval
  if spent + granted > 0 or has_jumped then
    redis.call("SET", KEYS[n], string.format("%.0f", full_at), "PX", math.ceil((full_at - now) / 1000))
  end
  local remaining = math.max(0, math.floor((now + horizon - full_at) / interval))
  local next_in = 0
  if remaining == 0 then next_in = full_at + interval - now - horizon end
  reply[n] = {granted, remaining, next_in, full_at - now}
end
return reply
