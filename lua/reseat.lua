-- Gives a reservation another unit, because the ledger says that its unit belongs to another order.
--
-- KEYS  1 sale    string, packed (layout in README.md)
--       2 buyers  hash, user -> entries
--       3 free    sorted set of ranges of returned units, by their first unit
-- ARGV  1 user id
--       2 reservation id: 32 hexadecimal digits
--       3 slot of the reservation
--       4 the unit that it cannot have
--       5 when it was reserved (ms since the Unix epoch)
-- Returns
--   reseated ENTRY   it has another unit, now or since an earlier run
--   sold_out         no unit is left, and none will drop; nothing changed
--   already_released | unknown_sale
--   unknown_hold     Redis forgot the reservation and its slot is taken; nothing changed
-- where ENTRY is "SLOT STATE ID UNIT RESERVED_AT_MS".

local sale_key, buyers_key, free_key = KEYS[1], KEYS[2], KEYS[3]
local user, id, slot, taken, reserved_at = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

local sale = redis.call('GET', sale_key)
if not sale then return 'unknown_sale' end

-- If Redis lost the reservation, it gets a new entry in its slot, replacing a released one.
local kept, own, slot_taken = {}, false, false
local record = redis.call('HGET', buyers_key, user)
for entry in string.gmatch(record or '', '[^;]+') do
  local entry_slot, state, entry_id, unit = string.match(entry, '^(%d+) (%a) (%x+) (%d+) ')
  if entry_id == id then
    if state == 'r' then return 'already_released' end
    if tonumber(unit) ~= taken then return 'reseated ' .. entry end
    own, slot = true, tonumber(entry_slot)
  else
    if state ~= 'r' or tonumber(entry_slot) ~= slot then kept[#kept + 1] = entry end
    slot_taken = slot_taken or (state ~= 'r' and tonumber(entry_slot) == slot)
  end
end
if slot_taken and not own then return 'unknown_hold' end

--- @read next_unit last_unit returned moves last_won_at_ms
--- @read expires_at_ms
--- @has plan
if has_plan and returned == 0 and next_unit > last_unit then
  -- A user who was promised a unit does not wait for the next drop, but gets one of its units now.
  --- @read plan
  local last = tonumber(string.match(plan, '^%d+'))
  if last and next_unit <= last then last_unit = next_unit end
end
if returned == 0 and next_unit > last_unit then return 'sold_out' end
local unit, range_end
--- @include lowest_unit
--- @include take_unit
--- @write next_unit last_unit returned moves

local entry = string.format('%d h %s %d %s', slot, id, unit, reserved_at)
kept[#kept + 1] = entry
redis.call('HSET', buyers_key, user, table.concat(kept, ';'))
redis.call('PEXPIREAT', buyers_key, expires_at_ms)
--- @include new_buyer
return 'reseated ' .. entry
