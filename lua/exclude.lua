-- Takes units out of what a lane can hand out: they belong to orders, or another lane has them as well.
--
-- KEYS  1 sale  string, packed (layout in README.md)
--       2 free  sorted set of ranges of returned units, by their first unit
-- ARGV  the units (bounded by the caller)
-- Returns
--   excluded COUNT  so many of them were free; none of them is now
--   unknown_sale

local sale_key, free_key = KEYS[1], KEYS[2]
local sale = redis.call('GET', sale_key)
if not sale then return 'unknown_sale' end
--- @read next_unit last_unit returned moves
--- @read expires_at_ms
local count = 0
for i = 1, #ARGV do
  local unit, was_free = tonumber(ARGV[i]), false
  --- @include take_out
  if was_free then count = count + 1 end
end
if count > 0 then
  --- @write next_unit last_unit returned moves
  redis.call('PEXPIREAT', free_key, expires_at_ms)
end
return string.format('excluded %d', count)
