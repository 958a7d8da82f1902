-- Adds the units of a transfer to what can be handed out, once. Takes `sale_key`, `free_key`, `transfers_key`, the
-- transfer's `from` and `transfer`, and from which of ARGV on its ranges are: `ranges_at`. Sets `was_sold_out`, nil if the
-- units were added before.
local was_sold_out
do
  local sale = redis.call('GET', sale_key)
  if not sale then return 'unknown_sale' end
  if tonumber(transfer) > (tonumber(redis.call('HGET', transfers_key, from)) or 0) then
    --- @read next_unit last_unit returned moves
    --- @read expires_at_ms
    was_sold_out = returned == 0 and next_unit > last_unit
    for i = ranges_at, #ARGV do
      local first, last = string.match(ARGV[i], '^(%d+)%-(%d+)$')
      first, last = tonumber(first), tonumber(last)
      if next_unit > last_unit then
        -- Nothing is left of what it was dealt, so these take its place: that is the cheapest way to hand them out.
        next_unit, last_unit = first, last
      else
        returned = returned + (last + 1 - first) * redis.call('ZADD', free_key, first, ARGV[i])
      end
    end
    moves = moves + 1
    --- @write next_unit last_unit returned moves
    redis.call('HSET', transfers_key, from, transfer)
    redis.call('PEXPIREAT', free_key, expires_at_ms)
    redis.call('PEXPIREAT', transfers_key, expires_at_ms)
  end
end
