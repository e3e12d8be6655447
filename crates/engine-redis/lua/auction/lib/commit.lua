-- auction/lib/commit: the facts first, then bids, people, lead, awards, head and marker. Nothing may fail behind the facts: a
-- key that is written but may not have been read is asked for its type before.
local function commit_marker()
  local due = due_at()
  if due == due_before then return end
  if due then
    call("SET", KEYS[11], decimal(due), "PX", decimal(math.max(due - now, 1)))
  else
    call("DEL", KEYS[11])
  end
end

local function commit(is_yes)
  if #facts == 0 then return end
  local set = {"head", format("auction|%.0f|%.0f|%.0f|%s|%d|%.0f|%d|%s|%.0f|%d", epoch, offset, now, status, bids_len,
    ends, extensions, details_version, price, leader and leader.bid or 0)}
  local function put(name, text)
    set[#set + 1] = name
    set[#set + 1] = text
  end
  if leader then put("lead", decimal(leader.max) .. "|" .. leader.bidder) end
  if closed then put("closed", closed.at .. "|" .. closed.how .. "|" .. closed.last_at) end
  if cancelled then put("cancelled", cancelled) end
  if #awards > 0 then
    local lines = {}
    for n, award in ipairs(awards) do
      lines[n] = award.state .. "|" .. award.bid .. "|" .. award.price .. "|" .. decimal(award.till) .. "|" .. award.bidder
    end
    put("awards", table.concat(lines, "\n"))
  end
  if next(BOOK.dirty) then call("HLEN", KEYS[5]) end
  if next(open_changes) then call("ZCARD", KEYS[6]) end
  log_facts(is_yes)
  LATER.write()
  call("HSET", KEYS[2], unpack(set))
  if not leader and kept[1] then call("HDEL", KEYS[2], "lead") end
  BOOK.commit_all()
  commit_marker()
end
