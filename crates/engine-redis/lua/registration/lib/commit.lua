-- registration/lib/commit: the facts, the marker and the head; entries were written as they changed.
local function commit(is_yes)
  if #facts == 0 then return end
  local first = tonumber(call("ZRANGE", KEYS[7], 0, 0, "WITHSCORES")[2])
  check_types()
  log_facts(is_yes)
  if first then call("SET", KEYS[11], decimal(first), "PX", decimal(math.max(first - now, 1))) end
  call("HSET", KEYS[2], "head", format("registration|%.0f|%.0f|%.0f|%s|%d|%.0f|%d|%s|%d|%d", epoch, offset, now, status,
    waiting, first or 0, capacity, details_version, confirmed, offered))
  BOOK.commit_all()
end
