-- Gives back units that are in no place: not free, not held and without an order; and corrects the count of returned
-- units. The caller read the round in pages, so its finding only holds if no unit has moved since. Loading restarts the
-- count of moves.
--
-- KEYS  1 sale  2 free
-- ARGV  1 moves of the sale when the caller read it
--       2 epoch of the sale at the same time (ms since the Unix epoch)
--       3 how many units the set had, or empty if that is unknown
--       4 "lane" if this is one of several lanes; left out otherwise
--       and then ranges of units, "FIRST-LAST" (bounded by the caller)
-- Returns
--   restored       they can be handed out again
--   moved          units have moved since, or the round was loaded again; nothing changed
--   unknown_sale

local sale_key, free_key = KEYS[1], KEYS[2]
--- @include sale
--- @read next_unit last_unit returned moves
--- @read epoch_ms expires_at_ms
if moves ~= tonumber(ARGV[1]) or epoch_ms ~= tonumber(ARGV[2]) then return 'moved' end
local sold_out, next_drop_at
--- @include sold_out
local is_lane = ARGV[4] == 'lane'
local from = is_lane and 5 or 4
-- After a failover, the count of moves may match by chance.
for i = from, #ARGV do
  local first, last = string.match(ARGV[i], '^(%d+)%-(%d+)$')
  local at = redis.call('ZRANGE', free_key, last, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1)[1]
  if at and tonumber(string.match(at, '%d+$')) >= tonumber(first) then return 'moved' end
end
returned = tonumber(ARGV[3]) or returned
for i = from, #ARGV do
  -- A failover since then may have forgotten that some were ever handed out; those are already free.
  local first, last = string.match(ARGV[i], '^(%d+)%-(%d+)$')
  first, last = tonumber(first), tonumber(last)
  local before = math.min(last, next_unit - 1)
  if first <= before then
    returned = returned + (before + 1 - first) * redis.call('ZADD', free_key, first, string.format('%d-%d', first, before))
  end
  first = math.max(first, next_unit, last_unit + 1)
  if is_lane and first <= last then
    returned = returned + (last + 1 - first) * redis.call('ZADD', free_key, first, string.format('%d-%d', first, last))
  end
end
redis.call('PEXPIREAT', free_key, expires_at_ms)
moves = moves + 1
--- @write returned moves
if sold_out and returned > 0 then
  --- @include cooldown
end
return 'restored'
