-- Records that a lane is no longer short of units that it had before Redis lost it: an audit found every unit in a
-- place.
--
-- KEYS  1 sale  2 transfers
-- ARGV  1 epoch of the sale when it was looked at (ms since the Unix epoch)
--       2 what `short` was
-- Returns
--   completed      the lane is not short
--   moved          the lane was loaded again since; nothing changed
--   unknown_sale

local sale_key, transfers_key = KEYS[1], KEYS[2]
--- @include sale
--- @read epoch_ms
local short = redis.call('HGET', transfers_key, 'short')
if short and (short ~= ARGV[2] or epoch_ms ~= tonumber(ARGV[1])) then return 'moved' end
redis.call('HDEL', transfers_key, 'short')
return 'completed'
