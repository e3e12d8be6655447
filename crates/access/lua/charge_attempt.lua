-- charge_attempt: one token from each bucket, or from none.
-- KEYS   buckets of one tenant, each a string: when it is full again, in µs since 1970
-- ARGV   1 now_us (0: ask Redis)   then for each bucket: interval_us   horizon_us
-- REPLY  1 passed or 0   then for each bucket as it is afterwards {remaining, next_in_us, full_in_us}
-- COST   1 read for each bucket, and 1 write if it passes or the clock jumped
local now = tonumber(ARGV[1])
if now == 0 then
  local time = redis.call("TIME")
  now = time[1] * 1000000 + time[2]
end
local passed, full, jumped = 1, {}, {}
for n = 1, #KEYS do
  local interval, horizon = tonumber(ARGV[2 * n]), tonumber(ARGV[2 * n + 1])
  local known = tonumber(redis.call("GET", KEYS[n]) or 0)
  -- A clock that jumped back leaves a time far ahead: an empty bucket, and from now on time passes.
  full[n] = math.min(math.max(known, now), now + horizon)
  jumped[n] = known > full[n]
  if full[n] + interval > now + horizon then passed = 0 end
end
local reply = {passed}
for n = 1, #KEYS do
  local interval, horizon = tonumber(ARGV[2 * n]), tonumber(ARGV[2 * n + 1])
  if passed == 1 then full[n] = full[n] + interval end
  if passed == 1 or jumped[n] then
    redis.call("SET", KEYS[n], string.format("%.0f", full[n]), "PX", math.ceil((full[n] - now) / 1000))
  end
  local remaining = math.floor((now + horizon - full[n]) / interval)
  local next_in = 0
  if remaining == 0 then next_in = full[n] + interval - now - horizon end
  reply[n + 1] = {remaining, next_in, full[n] - now}
end
return reply
