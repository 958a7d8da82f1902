-- Takes one unit for a user, if the sale is open, the user's limit allows it and a unit is left.
--
-- KEYS  1 sale  2 buyers  3 free  4 outbox
-- ARGV  1 user id
--       2 reservation id: 32 hexadecimal digits
--       3 how long before everyone's opening the user may buy (ms)
--       4 1 if the user may have units of the quota, 0 otherwise
--         (both are left out for users in no group, who are most: two more arguments slow down each call)
-- Returns
--   reserved RESERVATION           the unit is the user's
--   replayed RESERVATION           this id was reserved before; nothing changed
--   already_reserved RESERVATIONS  the user's live reservations reach the limit
--   too_many_unpaid COUNT          COUNT of the user's reservations in this round ended unpaid, which is the limit
--   sold_out MS FOR_MS [NEXT]      the last unit was handed out at MS (ms since the Unix epoch), and nobody gets one
--                                  within the next FOR_MS; with a plan, the next units come at NEXT (ms since the Unix
--                                  epoch)
--   closed | paused | unknown_sale
--   blocked                        a note in the user's record blocks the user; a repeated request still gets its
--                                  answer
--   not_open MS                    opens for the user at MS (ms since the Unix epoch)
--   quota_only MS                  what is left is a group's quota until MS (ms since the Unix epoch)
-- where RESERVATION is "SLOT STATE ID UNIT RESERVED_AT_MS" and RESERVATIONS are joined by ";".

local sale_key, buyers_key, free_key, outbox_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local user, id, lead_ms, has_quota = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
--- @include reserve
