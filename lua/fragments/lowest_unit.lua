-- Sets `unit` to the lowest unit that can be handed out and, if it is a returned one, `range_end` to the last unit of
-- its range; `unit` stays nil if there is none. Takes `free_key`, `returned`, `next_unit` and `last_unit`. A count of
-- returned units that is too high, as a failover may leave it, must stop nobody: it becomes 0, which the caller must write.
if returned > 0 then
  unit, range_end = string.match(redis.call('ZRANGE', free_key, 0, 0)[1] or '', '^(%d+)%-(%d+)$')
  unit, range_end = tonumber(unit), tonumber(range_end)
  if not unit then returned = 0 end
end
if not unit and next_unit <= last_unit then unit = next_unit end
