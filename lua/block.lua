-- Writes into users' records until when they are blocked, or removes that.
--
-- KEYS  1 sale  2 buyers  3 blocked
-- ARGV  pairs of a user and when the block ends, or 0 to remove it (bounded by the
--       caller)
-- Returns
--   noted          the records are as requested
--   unknown_sale   the round has no keys; nothing changed

local sale_key, buyers_key, blocked_key = KEYS[1], KEYS[2], KEYS[3]
--- @include sale

for i = 1, #ARGV, 2 do
  local user, until_ms = ARGV[i], ARGV[i + 1]
  local parts = {}
  for part in string.gmatch(redis.call('HGET', buyers_key, user) or '', '[^;]+') do
    if not string.find(part, '^b ') then parts[#parts + 1] = part end
  end
  if until_ms == '0' then
    redis.call('HDEL', blocked_key, user)
  else
    parts[#parts + 1] = 'b ' .. until_ms
    redis.call('HSET', blocked_key, user, until_ms)
  end
  if #parts > 0 then
    redis.call('HSET', buyers_key, user, table.concat(parts, ';'))
  else
    redis.call('HDEL', buyers_key, user)
  end
end
--- @read expires_at_ms
redis.call('PEXPIREAT', buyers_key, expires_at_ms)
redis.call('PEXPIREAT', blocked_key, expires_at_ms)
return 'noted'
