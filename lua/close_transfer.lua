-- Removes the record of a transfer once the other lane has its units.
--
-- KEYS  1 transfers
-- ARGV  1 index of the lane that has them
--       2 id of the transfer
-- Returns
--   transfer_closed   there is no record of it, now or since an earlier run

local transfers_key = KEYS[1]
local to, transfer = 'to:' .. ARGV[1], ARGV[2]
local id, ranges = string.match(redis.call('HGET', transfers_key, to) or '', '^(%d+) (%S+)')
if id == transfer then
  local count = 0
  for first, last in string.gmatch(ranges, '(%d+)%-(%d+)') do count = count + last + 1 - first end
  redis.call('HDEL', transfers_key, to)
  redis.call('HINCRBY', transfers_key, 'open', -count)
end
return 'transfer_closed'
