-- event/lib/layout_hash: these scripts know the layout of small charts.
local LAYOUT = "hash"
