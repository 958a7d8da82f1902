-- Lists everybody who has or had a reservation in a sold-out round. It is one call, since paging with a scan may miss
-- names if another node takes over in between.
--
-- KEYS  1 sale  2 buyers  3 blocked
-- ARGV  1 how many users to list at most; blocked users do not count
-- Returns
--   buyers MS       the users, each after a line break; MS is when the last unit was handed out (ms since the Unix epoch);
--                   some of them may have no reservation
--   too_many COUNT  there are COUNT users, more than the caller takes
--   selling         units can be handed out
--   unknown_sale

local sale_key, buyers_key, blocked_key = KEYS[1], KEYS[2], KEYS[3]
--- @include sale
--- @read next_unit last_unit returned last_won_at_ms
if returned > 0 or next_unit <= last_unit then
  local now
  --- @include clock
  --- @read cooldown_until_ms
  if now >= cooldown_until_ms then return 'selling' end
end

local count = redis.call('HLEN', buyers_key) - redis.call('HLEN', blocked_key)
if count > tonumber(ARGV[1]) then return string.format('too_many %d', count) end
return string.format('buyers %d\n', last_won_at_ms) .. table.concat(redis.call('HKEYS', buyers_key), '\n')
