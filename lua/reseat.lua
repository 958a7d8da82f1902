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
--   sold_out         no unit is left; nothing changed
--   already_released | unknown_sale
--   unknown_hold     Redis forgot the reservation and its slot is taken; nothing changed
-- where ENTRY is "SLOT STATE ID UNIT RESERVED_AT_MS".

local sale_key, buyers_key, free_key = KEYS[1], KEYS[2], KEYS[3]
local user, id, slot, taken, reserved_at = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

local sale = redis.call('GET', sale_key)
if not sale then return 'unknown_sale' end

-- Without an entry Redis lost the reservation: it gets a new one in its slot, in place of a released one.
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

local next_unit, last_unit, returned, moves, won_at = struct.unpack('>I4I4I4I4I6', sale)
local expires_at = struct.unpack('>I6', sale, 43)
local unit
if returned > 0 then
  local first, range_end = string.match(redis.call('ZPOPMIN', free_key)[1], '^(%d+)%-(%d+)$')
  unit, range_end = tonumber(first), tonumber(range_end)
  if unit < range_end then
    redis.call('ZADD', free_key, unit + 1, string.format('%d-%d', unit + 1, range_end))
    redis.call('PEXPIREAT', free_key, expires_at)
  end
  redis.call('SETRANGE', sale_key, 8, struct.pack('>I4I4', returned - 1, moves + 1))
elseif next_unit <= last_unit then
  unit = next_unit
  redis.call('SETRANGE', sale_key, 0, struct.pack('>I4', next_unit + 1))
else
  return 'sold_out'
end

local entry = string.format('%d h %s %d %s', slot, id, unit, reserved_at)
kept[#kept + 1] = entry
redis.call('HSET', buyers_key, user, table.concat(kept, ';'))
redis.call('PEXPIREAT', buyers_key, expires_at)
if not string.find(';' .. (record or ''), ';%d') then
  -- Whoever remembers the buyers as of `won_at` does not know this one.
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('SETRANGE', sale_key, 16, struct.pack('>I6', math.max(now, won_at + 1)))
end
return 'reseated ' .. entry
