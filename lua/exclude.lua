-- Removes units from what a lane can hand out, because they belong to orders or another lane has them too. The caller
-- saw them in two lanes by reading in pages, so its finding only holds if no unit has moved since.
--
-- KEYS  1 sale  2 free
-- ARGV  1 moves of the sale when it was looked at; empty if the units are taken out whatever has moved
--       2 epoch of the sale at the same time (ms since the Unix epoch)
--       and then the units (bounded by the caller)
-- Returns
--   excluded COUNT  COUNT of them were free; none is now
--   moved           units have moved since, or the lane was loaded again; nothing changed
--   unknown_sale

local sale_key, free_key = KEYS[1], KEYS[2]
--- @include sale
--- @read next_unit last_unit returned moves
--- @read epoch_ms expires_at_ms
if ARGV[1] ~= '' and (moves ~= tonumber(ARGV[1]) or epoch_ms ~= tonumber(ARGV[2])) then return 'moved' end
local count = 0
for i = 3, #ARGV do
  local unit, was_free = tonumber(ARGV[i]), false
  --- @include take_out
  if was_free then count = count + 1 end
end
-- An order has them: whoever saw them in no place before must look again.
if count == 0 and ARGV[1] == '' then moves = moves + 1 end
if count > 0 or ARGV[1] == '' then
  --- @write next_unit last_unit returned moves
  redis.call('PEXPIREAT', free_key, expires_at_ms)
end
return string.format('excluded %d', count)
