-- Has a lane refuse what lanes gave it before Redis lost them: they are about to be loaded anew with the units, and whoever
-- still knows of such a transfer comes too late.
--
-- KEYS  1 sale       string, packed (layout in README.md)
--       2 transfers  hash, what is on its way from this lane and to it (README.md has its fields)
-- ARGV  pairs of the index of a lane that gave, and the highest id of its transfers that is refused
-- Returns
--   fenced         they are refused, now or since an earlier run
--   unknown_sale

local sale_key, transfers_key = KEYS[1], KEYS[2]
local sale = redis.call('GET', sale_key)
if not sale then return 'unknown_sale' end
local is_new = false
for i = 1, #ARGV, 2 do
  local field = 'from:' .. ARGV[i]
  if tonumber(ARGV[i + 1]) > (tonumber(redis.call('HGET', transfers_key, field)) or 0) then
    redis.call('HSET', transfers_key, field, ARGV[i + 1])
    is_new = true
  end
end
if is_new then
  -- Whoever looked at the lane before knows nothing of it any more: what it found in no place may be loaded elsewhere.
  --- @read moves
  --- @read expires_at_ms
  moves = moves + 1
  --- @write moves
  redis.call('PEXPIREAT', transfers_key, expires_at_ms)
end
return 'fenced'
