-- Brings a live round to what the ledger says of it: paused or not, more units, another end. An older version of the
-- sale than the one that was applied last changes nothing, whatever order they come in.
--
-- KEYS  1 sale    string, packed (layout in README.md)
--       2 buyers  hash, user -> entries
--       3 free    sorted set of ranges of returned units, by their first unit
--       4 outbox  list of reservations that no order has confirmed
-- ARGV  1 version of the sale  2 last unit  3 paused: 1 or 0  4 opens at  5 closes at  6 when the keys are to expire
--       7 unpaid limit  (times in ms since the Unix epoch)
-- Returns
--   amended        it is in force now
--   present        this version or a newer one was in force
--   unknown_sale

local sale_key = KEYS[1]
local HOLD_BACK_MS = 1500
local sale = redis.call('GET', sale_key)
if not sale then return 'unknown_sale' end
local n = {}
for i = 1, 7 do n[i] = tonumber(ARGV[i]) end
local version = struct.unpack('>I4', sale, 49)
-- The version in force is applied once more to a round that the release before loaded, which has no unpaid limit yet.
if n[1] < version or n[1] == version and #sale >= 59 then return 'present' end

-- Units are numbered, so more of them is a later last one. It never goes back: the units may be sold.
local next_unit, last_before, returned = struct.unpack('>I4I4I4', sale)
local last_unit = math.max(n[2], last_before)
redis.call('SETRANGE', sale_key, 4, struct.pack('>I4', last_unit))
redis.call('SETRANGE', sale_key, 23, struct.pack('>BI6I6', n[3], n[4], n[5]))
redis.call('SETRANGE', sale_key, 42, struct.pack('>I6I4', n[6], n[1]))
redis.call('SETRANGE', sale_key, 58, struct.pack('>B', n[7]))
if returned == 0 and next_unit > last_before and next_unit <= last_unit then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('SETRANGE', sale_key, 52, struct.pack('>I6', now + HOLD_BACK_MS))
end
for i = 1, 4 do redis.call('PEXPIREAT', KEYS[i], n[6]) end
return 'amended'
