-- lib/later: writes that wait until the facts are in the stream: nothing may have changed when these are not taken.
-- One name for all of it, because a script has room for 200: `prepare` reads what they need, `chart` is a new one.
local LATER = {}
local function later(...) LATER[#LATER + 1] = {...} end
function LATER.write()
  for n = 1, #LATER do call(unpack(LATER[n])) end
end
