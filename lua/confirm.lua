-- Marks a held reservation as ordered: the ledger has its order.
--
-- KEYS  1 buyers  hash, user -> entries
-- ARGV  1 user id
--       2 reservation id: 32 hexadecimal digits
-- Returns  confirmed | already_confirmed | already_released | unknown_hold

local record = redis.call('HGET', KEYS[1], ARGV[1])
local at = record and string.find(record, ARGV[2], 1, true)
if not at then return 'unknown_hold' end
local state = string.sub(record, at - 2, at - 2)
if state == 'o' then return 'already_confirmed' end
if state == 'r' then return 'already_released' end
redis.call('HSET', KEYS[1], ARGV[1], string.sub(record, 1, at - 3) .. 'o' .. string.sub(record, at - 1))
return 'confirmed'
