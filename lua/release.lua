-- Gives a reservation's unit back and frees its slot. Running it twice returns one unit, not two.
--
-- KEYS  1 sale    string, packed (layout in README.md)
--       2 buyers  hash, user -> entries
--       3 free    list of returned units and ranges of units
-- ARGV  1 user id
--       2 reservation id: 32 hexadecimal digits
--       3 1: the unit can be sold again; 0: it belongs to another order and is forgotten here
-- Returns  released | already_released | unknown_hold

local sale_key, buyers_key, free_key = KEYS[1], KEYS[2], KEYS[3]
local record = redis.call('HGET', buyers_key, ARGV[1])
local at = record and string.find(record, ARGV[2], 1, true)
if not at then return 'unknown_hold' end
if string.sub(record, at - 2, at - 2) == 'r' then return 'already_released' end
redis.call('HSET', buyers_key, ARGV[1], string.sub(record, 1, at - 3) .. 'r' .. string.sub(record, at - 1))

local sale = redis.call('GET', sale_key)
if ARGV[3] == '1' and sale then
  local returned = struct.unpack('>I4', sale, 9)
  local expires_at = struct.unpack('>I6', sale, 33)
  redis.call('RPUSH', free_key, string.match(record, '^%x+ (%d+)', at))
  redis.call('PEXPIREAT', free_key, expires_at)
  redis.call('SETRANGE', sale_key, 8, struct.pack('>I4', returned + 1))
end
return 'released'
