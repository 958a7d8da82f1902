-- Gives a reservation's unit back and frees its slot. Running it twice returns one unit, not two.
--
-- KEYS  1 sale  2 buyers  3 free
-- ARGV  1 user id
--       2 reservation id: 32 hexadecimal digits
--       3 a unit that belongs to another order, or 0: if it is the reservation's, it is forgotten and not returned
--       4 1 if the reservation ended because its user cancelled or did not pay, which is counted once; 0 otherwise, and then
--         a count of it is taken back
-- Returns  released | already_released | unknown_reservation

local sale_key, buyers_key, free_key = KEYS[1], KEYS[2], KEYS[3]
local user, id = ARGV[1], ARGV[2]
local record, at, state
--- @include find_reservation
if not record then return 'unknown_reservation' end
local is_live, parts = at and state ~= 'r', ';' .. record
if is_live then parts = ';' .. string.sub(record, 1, at - 3) .. 'r' .. string.sub(record, at - 1) end

-- The reservation may be gone by the time its count is taken back, or be made again by a late duplicate of its request.
-- So the note says what it has counted. The note stores only half of each id, so that `find_reservation` does not find
-- the note instead of the reservation.
do
  local before, count, ids, after = string.match(parts, '^(.*;u )(%d+)([^;]*)(.*)$')
  local half = ' ' .. string.sub(id, 17)
  local first, last = string.find(ids or '', half, 1, true)
  if first and ARGV[4] ~= '1' then
    ids = string.sub(ids, 1, first - 1) .. string.sub(ids, last + 1)
    parts = string.format('%s%d%s%s', before, count - 1, ids, after)
  elseif is_live and not first and ARGV[4] == '1' then
    parts = count and string.format('%s%d%s%s%s', before, count + 1, ids, half, after) or parts .. ';u 1' .. half
  end
end
if not is_live then
  if parts ~= ';' .. record then redis.call('HSET', buyers_key, user, string.sub(parts, 2)) end
  return at and 'already_released' or 'unknown_reservation'
end
local before, from_quota, after = string.match(parts, '^(.*;s )(%d+)(.*)$')
from_quota = tonumber(from_quota or 0)
if from_quota > 0 then parts = string.format('%s%d%s', before, from_quota - 1, after) end
redis.call('HSET', buyers_key, user, string.sub(parts, 2))

local unit = string.match(record, '^%x+ (%d+)', at)
local sale = redis.call('GET', sale_key)
if sale and from_quota > 0 then
  -- The reservation used a unit of the quota, so its group gets another one.
  --- @read quota
  quota = quota + 1
  --- @write quota
end
if sale and unit ~= ARGV[3] and redis.call('ZADD', free_key, unit, unit .. '-' .. unit) == 1 then
  --- @read next_unit last_unit returned moves
  local sold_out, next_drop_at
  --- @include sold_out
  returned, moves = returned + 1, moves + 1
  --- @write returned moves
  if sold_out then
    --- @include cooldown
  end
  --- @read expires_at_ms
  redis.call('PEXPIREAT', free_key, expires_at_ms)
end
return 'released'
