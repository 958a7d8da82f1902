-- Removes `unit` from what can be handed out, and sets `was_free` to whether it was there. Takes `free_key`; changes
-- `next_unit`, `returned` and `moves`, which the caller must write.
do
  -- Returns how many units the set has more: those that it has already do not count twice.
  local function give(first, last)
    if first > last then return 0 end
    return (last + 1 - first) * redis.call('ZADD', free_key, first, string.format('%d-%d', first, last))
  end
  if unit >= next_unit and unit <= last_unit then
    -- Units in between were never handed out and still can be.
    returned, moves, was_free = returned + give(next_unit, unit - 1), moves + 1, true
    next_unit = unit + 1
  else
    local range = redis.call('ZRANGE', free_key, unit, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1)[1]
    local first, last = string.match(range or '', '^(%d+)%-(%d+)$')
    first, last = tonumber(first), tonumber(last)
    if last and last >= unit then
      redis.call('ZREM', free_key, range)
      local given = give(first, unit - 1) + give(unit + 1, last)
      returned, moves, was_free = math.max(0, returned + given - (last + 1 - first)), moves + 1, true
    end
  end
end
