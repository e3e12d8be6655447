-- lib/args: reads the arguments one after the other; a list is its length and then its values.
local at_arg = 6
local function arg()
  at_arg = at_arg + 1
  return ARGV[at_arg - 1]
end

local function list()
  local all = {}
  for n = 1, tonumber(arg()) do all[n] = arg() end
  return all
end
