-- Brings a loaded round to what the ledger says of it: paused or not, more units, another end. An older version of the
-- sale than the one that was applied last changes nothing, whatever order they come in.
--
-- KEYS  1 sale    string, packed (layout in README.md)
--       2 buyers  hash, user -> entries
--       3 free    sorted set of ranges of returned units, by their first unit
--       4 outbox  list of reservations that no order has confirmed
-- ARGV  1 version of the sale  2 last unit  3 paused: 1 or 0  4 opens at  5 closes at  6 when the keys are to expire
--       7 unpaid limit  8 until when units are set aside, or 0  9 how many units are set aside in a new round
--       (times in ms since the Unix epoch)
-- Returns
--   amended        it is in force now
--   present        this version or a newer one was in force
--   unknown_sale

local sale_key = KEYS[1]
local sale = redis.call('GET', sale_key)
if not sale then return 'unknown_sale' end
local newer = tonumber(ARGV[1])
--- @read version
--- @has set_aside
-- The version in force is applied once more to a round that the release before loaded, which lacks the newest terms.
if newer < version or newer == version and has_set_aside then return 'present' end

-- Units are numbered, so more of them is a later last one. It never goes back: the units may be sold.
--- @read next_unit last_unit returned
local sold_out = returned == 0 and next_unit > last_unit
last_unit = math.max(tonumber(ARGV[2]), last_unit)
version = newer
local paused, opens_at_ms, closes_at_ms, expires_at_ms, unpaid_limit, set_aside_until_ms = unpack(ARGV, 3, 8)
--- @read set_aside
-- What the group has used up stays so.
if not has_set_aside then set_aside = ARGV[9] end
--- @write last_unit paused opens_at_ms closes_at_ms expires_at_ms version unpaid_limit set_aside_until_ms set_aside
if sold_out and next_unit <= last_unit then
  --- @include hold_back
end
for i = 1, 4 do redis.call('PEXPIREAT', KEYS[i], expires_at_ms) end
return 'amended'
