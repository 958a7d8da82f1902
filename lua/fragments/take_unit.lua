-- Removes `unit`, which `lowest_unit` found, from what can be handed out. Takes `free_key` and `expires_at_ms`; changes
-- `next_unit`, `returned` and `moves`, which the caller must write.
if returned == 0 then
  next_unit = next_unit + 1
else
  redis.call('ZPOPMIN', free_key)
  if unit < range_end then
    redis.call('ZADD', free_key, unit + 1, string.format('%d-%d', unit + 1, range_end))
    redis.call('PEXPIREAT', free_key, expires_at_ms)
  end
  returned, moves = returned - 1, moves + 1
end
