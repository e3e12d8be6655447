-- lib/write_created: the first facts of a listing with what its merchant says of it: a fact behind those of its kind, if there is
-- one among the arguments. When it was made stands in its meta, and so does what is said of it.
local function write_created(facts, kind, rest)
  while ARGV[at_arg] do facts[#facts + 1] = list() end
  local written, last = write_new(facts, kind, rest), facts[#facts]
  call("HSET", KEYS[1], "created_at", format("%.0f", now))
  if last[2] == "listing_described" then call("HSET", KEYS[1], "about", last[4]) end
  return written
end
