-- take_lease: who looks after a desk: whoever has it keeps it by asking again; when its time is over anybody may take
-- it, under the next token. What is decided under an older one is refused by the desk's own script.
-- KEYS   3 lease
-- ARGV   1 now_ms (0: ask Redis)  2 who asks  3 for how long, ms (0: gives it back)
-- REPLY  {1, token} | {0, token}          COST  1 read, 1 write
local now = tonumber(ARGV[1])
if now == 0 then
  local time = redis.call("TIME")
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local kept = redis.call("HMGET", KEYS[3], "held", "until")
local token, holder = 0, ""
if kept[1] then
  token, holder = string.match(kept[1], "^(%d+)|(%w+)$")
  token = tonumber(token)
end
if holder ~= ARGV[2] then
  if ARGV[3] == "0" or kept[2] and now < tonumber(kept[2]) then return {0, token} end
  token = token + 1
end
redis.call("HSET", KEYS[3], "held", string.format("%.0f|%s", token, ARGV[2]), "until",
  string.format("%.0f", now + ARGV[3]))
return {1, token}
