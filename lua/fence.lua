-- Makes a lane refuse transfers from lanes that Redis has lost. Those lanes are about to be loaded again with the units
-- in transfer, so a process that still knows of such a transfer comes too late.
--
-- KEYS  1 sale  2 transfers
-- ARGV  pairs of the index of a lane that gave, and the highest id of its transfers that is refused
-- Returns
--   fenced         they are refused, by this run or an earlier one
--   unknown_sale

local sale_key, transfers_key = KEYS[1], KEYS[2]
--- @include sale
local is_new = false
for i = 1, #ARGV, 2 do
  local field = 'from:' .. ARGV[i]
  if tonumber(ARGV[i + 1]) > (tonumber(redis.call('HGET', transfers_key, field)) or 0) then
    redis.call('HSET', transfers_key, field, ARGV[i + 1])
    is_new = true
  end
end
if is_new then
  -- Invalidates earlier audits of this lane: units that they found missing may be loaded elsewhere.
  --- @read moves
  --- @read expires_at_ms
  moves = moves + 1
  --- @write moves
  redis.call('PEXPIREAT', transfers_key, expires_at_ms)
end
return 'fenced'
