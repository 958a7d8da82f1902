-- Adds the units of a transfer to what can be handed out, once. Takes `sale_key`, `free_key`, `transfers_key`, the
-- transfer's `from`, `transfer` and `in_cooldown`, and `ranges_at`, the index in ARGV at which its ranges begin. Sets
-- `was_sold_out`, which is nil if the units had been added before.
local was_sold_out
do
  --- @include sale
  if tonumber(transfer) > (tonumber(redis.call('HGET', transfers_key, from)) or 0) then
    --- @read next_unit last_unit returned moves
    --- @read expires_at_ms cooldown_until_ms
    was_sold_out = returned == 0 and next_unit > last_unit
    for i = ranges_at, #ARGV do
      local first, last = string.match(ARGV[i], '^(%d+)%-(%d+)$')
      first, last = tonumber(first), tonumber(last)
      if next_unit > last_unit then
        -- Nothing is left of the units it was given at loading, so these replace them: that is the cheapest way to hand
        -- them out.
        next_unit, last_unit = first, last
      else
        returned = returned + (last + 1 - first) * redis.call('ZADD', free_key, first, ARGV[i])
      end
    end
    moves = moves + 1
    --- @write next_unit last_unit returned moves
    if cooldown_until_ms > 0 and not in_cooldown then
      -- The cooldown of the units of this lane ends too: the round is not sold out, and has not been since these units
      -- became available.
      local cooldown_until_ms = 0
      --- @write cooldown_until_ms
    end
    redis.call('HSET', transfers_key, from, transfer)
    redis.call('PEXPIREAT', free_key, expires_at_ms)
    redis.call('PEXPIREAT', transfers_key, expires_at_ms)
  end
end
