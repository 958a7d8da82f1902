-- Tells Redis about an order that it forgot: the order's unit can no longer be handed out, and its user has an ordered
-- reservation for it.
--
-- KEYS  1 sale  2 buyers  3 free
-- ARGV  1 user id
--       2 reservation id: 32 hexadecimal digits
--       3 slot of the order
--       4 unit of the order
--       5 when it was reserved (ms since the Unix epoch)
--       6 1 if this is one of several lanes; left out otherwise
-- Returns
--   adopted             Redis knows it now, and hands its unit out to nobody else
--   already_confirmed   Redis knew it; nothing changed
--   already_released    Redis knows that it ended; nothing changed
--   unknown_sale

local sale_key, buyers_key, free_key = KEYS[1], KEYS[2], KEYS[3]
local user, id, slot, unit, reserved_at = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

--- @include sale
--- @read next_unit last_unit returned moves last_won_at_ms
--- @read expires_at_ms
local sold_out, next_drop_at
--- @include sold_out

local kept, known = {}, false
local record = redis.call('HGET', buyers_key, user)
for reservation in string.gmatch(record or '', '[^;]+') do
  local its_slot, state, its_id, its_unit = string.match(reservation, '^(%d+) (%a) (%x+) (%d+) ')
  if its_id == id then
    if state == 'r' then return 'already_released' end
    known = state == 'o' and tonumber(its_unit) == unit
  elseif state ~= 'r' or tonumber(its_slot) ~= slot then
    kept[#kept + 1] = reservation
  end
end
if not known then
  kept[#kept + 1] = string.format('%d o %s %d %s', slot, id, unit, reserved_at)
  redis.call('HSET', buyers_key, user, table.concat(kept, ';'))
  redis.call('PEXPIREAT', buyers_key, expires_at_ms)
  -- Whoever saw the unit in no place before must look again.
  moves = moves + 1
  --- @write moves
end

-- The unit may be free although the order is known: another reservation that had the same unit gave it back. The only lane
-- has each unit up to the last, so one beyond is there, too.
if not ARGV[6] and unit >= next_unit then last_unit = math.max(last_unit, unit) end
local was_free = false
--- @include take_out
if was_free then
  --- @write next_unit last_unit returned moves
  known = false
end
redis.call('PEXPIREAT', free_key, expires_at_ms)

--- @include new_buyer
if sold_out and returned > 0 then
  --- @include cooldown
end
return known and 'already_confirmed' or 'adopted'
