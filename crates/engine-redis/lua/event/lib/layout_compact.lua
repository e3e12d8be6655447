-- event/lib/layout_compact: these scripts know the layout of large charts.
local LAYOUT = "compact"
