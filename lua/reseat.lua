-- Gives a reservation what the ledger refused it: another unit, if its unit belongs to another order, or else another
-- slot. If Redis has forgotten it, it gets both.
--
-- KEYS  1 sale  2 buyers  3 free
-- ARGV  1 user id
--       2 reservation id: 32 hexadecimal digits
--       3 slot of the reservation
--       4 unit of the reservation
--       5 when it was reserved (ms since the Unix epoch)
--       6 1 if another order has its unit; 0 if only its slot is taken
-- Returns
--   reseated RESERVATION   it has another unit or slot, now or since an earlier run
--   sold_out               no unit is left, and none will drop; nothing changed
--   limit_reached          other reservations have all of the user's slots; nothing changed
--   already_released | unknown_sale
-- where RESERVATION is "SLOT STATE ID UNIT RESERVED_AT_MS".

local sale_key, buyers_key, free_key = KEYS[1], KEYS[2], KEYS[3]
local user, id, slot, unit, reserved_at = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

--- @include sale

local own, used, others = false, {}, {}
local record = redis.call('HGET', buyers_key, user)
for reservation in string.gmatch(record or '', '[^;]+') do
  local its_slot, state, its_id, its_unit = string.match(reservation, '^(%d+) (%a) (%x+) (%d+) ')
  if its_id == id then
    if state == 'r' then return 'already_released' end
    if tonumber(its_unit) ~= unit or tonumber(its_slot) ~= slot then return 'reseated ' .. reservation end
    own = true
  else
    if its_slot and state ~= 'r' then used[tonumber(its_slot)] = true end
    others[#others + 1] = reservation
  end
end

--- @read next_unit last_unit returned moves last_won_at_ms per_user_limit
--- @read expires_at_ms
local keeps_unit = own and ARGV[6] == '0'
-- The unit comes before the slot, so a reservation that fails for its slot has a unit of its own to give back.
if keeps_unit or (used[slot] and not own) then
  -- The next one after it, since orders that Redis does not know may have others too.
  local first = slot
  repeat
    slot = (slot + 1) % per_user_limit
    if slot == first then return 'limit_reached' end
  until not used[slot]
end

if not keeps_unit then
  local range_end
  unit = nil
  --- @include lowest_unit
  --- @has plan
  if has_plan and not unit then
    -- A user who was promised a unit does not wait for the next drop, but gets one of its units now.
    --- @read plan
    local last = tonumber(string.match(plan, '^%d+'))
    if last and next_unit <= last then unit, last_unit = next_unit, next_unit end
  end
  if not unit then
    --- @write returned
    return 'sold_out'
  end
  --- @include take_unit
  --- @write next_unit last_unit returned moves
end

-- A new reservation in its slot replaces a released one.
local kept = {}
for _, reservation in ipairs(others) do
  if tonumber(string.match(reservation, '^(%d+) r ')) ~= slot then kept[#kept + 1] = reservation end
end
local reservation = string.format('%d h %s %d %s', slot, id, unit, reserved_at)
kept[#kept + 1] = reservation
redis.call('HSET', buyers_key, user, table.concat(kept, ';'))
redis.call('PEXPIREAT', buyers_key, expires_at_ms)
--- @include new_buyer
return 'reseated ' .. reservation
