-- Adds the units of a transfer to a lane, once, and takes one of them for a user as `reserve` does.
--
-- KEYS  1 sale  2 buyers  3 free  4 outbox  5 transfers
-- ARGV  1 user id
--       2 reservation id: 32 hexadecimal digits
--       3 how long before everyone's opening the user may buy (ms)
--       4 index of the lane that the units come from
--       5 id of the transfer
--       and then its ranges, "FIRST-LAST"
-- Returns what `reserve` returns:
--   reserved RESERVATION | replayed RESERVATION | already_reserved RESERVATIONS | too_many_unpaid COUNT
--   sold_out MS FOR_MS | not_open MS | quota_only MS | closed | paused | blocked | unknown_sale

local sale_key, buyers_key, free_key, outbox_key, transfers_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local user, id, lead_ms, has_quota = ARGV[1], ARGV[2], ARGV[3], nil
local from, transfer, in_cooldown, ranges_at = 'from:' .. ARGV[4], ARGV[5], false, 6
--- @include accept
--- @include reserve
