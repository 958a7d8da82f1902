-- Adds the units of a transfer to a lane, once, without taking one: for a reservation that needs another unit, and for
-- a transfer whose process died.
--
-- KEYS  1 sale  2 free  3 transfers
-- ARGV  1 index of the lane that the units come from
--       2 id of the transfer
--       3 1 if they were in cooldown in the giving lane: then they are here too, if nothing was free. 0 otherwise
--       and then its ranges, "FIRST-LAST"
-- Returns
--   accepted       the lane has them, by this run or an earlier one
--   unknown_sale   the lane has no keys; nothing changed

local sale_key, free_key, transfers_key = KEYS[1], KEYS[2], KEYS[3]
local from, transfer, in_cooldown, ranges_at = 'from:' .. ARGV[1], ARGV[2], ARGV[3] == '1', 4
--- @include accept
if was_sold_out and in_cooldown then
  local next_drop_at = 0
  --- @include cooldown
end
return 'accepted'
