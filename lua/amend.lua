-- Applies the ledger's terms to a loaded round: paused or not, more units, another end. A version of the sale that is
-- older than the last one applied changes nothing, in whatever order versions arrive.
--
-- KEYS  1 sale  2 buyers  3 free  4 outbox  5 transfers, left out if there is only one lane
-- ARGV  1 version of the sale  2 last unit  3 paused: 1 or 0  4 opens at  5 closes at  6 when the keys are to expire
--       7 unpaid limit  8 plan of its drops (README.md has its form), or empty  9 until when a group has a quota, or 0
--       (times in ms since the Unix epoch)
--       and with several lanes 10: 1 for the lane that gets all new units, 0 for the others
-- Returns
--   amended        it is in force now
--   present        this version or a newer one was in force
--   unknown_sale

local sale_key = KEYS[1]
--- @include sale
local newer = tonumber(ARGV[1])
--- @read version
if newer <= version then return 'present' end

-- Units are numbered, so more units mean a later last one. It never goes back: the units may be sold.
--- @read next_unit last_unit returned
--- @has plan
local now, next_drop_at = nil, 0
if has_plan then
  -- Units that the old plan has made available stay available.
  --- @include drop
end
local sold_out, told_until = returned == 0 and next_unit > last_unit, next_drop_at
version = newer
local paused, opens_at_ms, closes_at_ms, expires_at_ms, unpaid_limit, plan, quota_until_ms = unpack(ARGV, 3, 9)
local next_drop_ms, transfers_key = 0, KEYS[5]
if transfers_key then
  local free_key, total, dealt = KEYS[3], tonumber(ARGV[2]), tonumber(redis.call('HGET', transfers_key, 'dealt')) or 0
  if ARGV[10] == '1' and total > dealt then
    --- @read moves
    returned, moves = returned + total - dealt, moves + 1
    --- @write returned moves
    redis.call('ZADD', free_key, dealt + 1, string.format('%d-%d', dealt + 1, total))
  end
  redis.call('HSET', transfers_key, 'dealt', string.format('%d', math.max(total, dealt)))
elseif plan == '' then
  last_unit = math.max(tonumber(ARGV[2]), last_unit)
else
  --- @include clock
  --- @include available
end
-- `quota` stays: a change of the terms does not refill what the group has already used.
--- @write last_unit paused opens_at_ms closes_at_ms expires_at_ms version unpaid_limit next_drop_ms quota_until_ms
if has_plan or plan ~= '' then
  --- @write plan
end
-- Clients that were told "sold out" follow the old plan, so units that come earlier than it said have a cooldown.
local comes_earlier = next_drop_ms > 0 and (told_until == 0 or next_drop_ms < told_until)
if sold_out and (returned > 0 or next_unit <= last_unit or comes_earlier) then
  next_drop_at = 0
  --- @include cooldown
end
for i = 1, #KEYS do redis.call('PEXPIREAT', KEYS[i], expires_at_ms) end
return 'amended'
