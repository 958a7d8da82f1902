-- Marks a held reservation as ordered: the ledger has its order.
--
-- KEYS  1 buyers
-- ARGV  1 user id
--       2 reservation id: 32 hexadecimal digits
-- Returns  confirmed | already_confirmed | already_released | unknown_reservation

local buyers_key = KEYS[1]
local user, id = ARGV[1], ARGV[2]
local record, at, state
--- @include find_reservation
if not at then return 'unknown_reservation' end
if state == 'o' then return 'already_confirmed' end
if state == 'r' then return 'already_released' end
redis.call('HSET', buyers_key, user, string.sub(record, 1, at - 3) .. 'o' .. string.sub(record, at - 1))
return 'confirmed'
