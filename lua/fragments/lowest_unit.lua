-- Sets `unit` to the lowest unit that can be handed out and, if it is a returned one, `range_end` to the last unit of
-- its range. At least one must be available. Takes `free_key`, `returned` and `next_unit`; changes nothing in Redis.
if returned > 0 then
  unit, range_end = string.match(redis.call('ZRANGE', free_key, 0, 0)[1], '^(%d+)%-(%d+)$')
  unit, range_end = tonumber(unit), tonumber(range_end)
else
  unit = next_unit
end
