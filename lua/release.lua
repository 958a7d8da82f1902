-- Gives a reservation's unit back and frees its slot. Running it twice returns one unit, not two.
--
-- KEYS  1 sale    string, packed (layout in README.md)
--       2 buyers  hash, user -> entries
--       3 free    sorted set of ranges of returned units, by their first unit
-- ARGV  1 user id
--       2 reservation id: 32 hexadecimal digits
--       3 a unit that belongs to another order, or 0: if it is the reservation's, it is forgotten and not returned
--       4 1 if the reservation ended because its user cancelled or did not pay, which is counted once; 0 otherwise
-- Returns  released | already_released | unknown_hold

local sale_key, buyers_key, free_key = KEYS[1], KEYS[2], KEYS[3]
local HOLD_BACK_MS = 1500
local record = redis.call('HGET', buyers_key, ARGV[1])
local at = record and string.find(record, ARGV[2], 1, true)
if not at then return 'unknown_hold' end
if string.sub(record, at - 2, at - 2) == 'r' then return 'already_released' end
local parts = ';' .. string.sub(record, 1, at - 3) .. 'r' .. string.sub(record, at - 1)
if ARGV[4] == '1' then
  local before, count, after = string.match(parts, '^(.*;u )(%d+)(.*)$')
  parts = count and string.format('%s%d%s', before, count + 1, after) or parts .. ';u 1'
end
redis.call('HSET', buyers_key, ARGV[1], string.sub(parts, 2))

local unit = string.match(record, '^%x+ (%d+)', at)
local sale = redis.call('GET', sale_key)
if sale and unit ~= ARGV[3] and redis.call('ZADD', free_key, unit, unit .. '-' .. unit) == 1 then
  local next_unit, last_unit, returned, moves = struct.unpack('>I4I4I4I4', sale)
  redis.call('SETRANGE', sale_key, 8, struct.pack('>I4I4', returned + 1, moves + 1))
  if returned == 0 and next_unit > last_unit then
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    redis.call('SETRANGE', sale_key, 52, struct.pack('>I6', now + HOLD_BACK_MS))
  end
  redis.call('PEXPIREAT', free_key, (struct.unpack('>I6', sale, 43)))
end
return 'released'
