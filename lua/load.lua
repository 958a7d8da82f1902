-- Creates a round's keys, if it has none, from what the ledger says is taken. Never overwrites a loaded round: the sale
-- key is written last, and from then on every run answers "present".
--
-- KEYS  1 sale  2 buyers  3 free  4 outbox  5 staged  6 blocked  7 staged_blocked  8 staged_free  9 transfers  10 loading
--       (5, 7 and 8 are for this load only, so that two concurrent loads do not mix what they read; 9 and 10 are left out
--       if there is only one lane)
-- ARGV  1 step: "claim", "buyers", "free" or "open"
--       2 when the keys are to expire (ms since the Unix epoch)
--       claim:  3 the smallest number to give  4 how far clocks may differ (µs). Only with several lanes
--       buyers: pairs of user and reservations, one page of the users with orders (bounded by the caller)
--       free:   one page of the set's ranges, "FIRST-LAST" (bounded by the caller)
--       open:   3 next unit  4 last unit  5 number of units in the set  6 limit  7 paused  8 opens at  9 closes at
--               10 epoch  11 version of the sale  12 unpaid limit  13 plan of its drops (README.md has its form), or empty
--               14 until when a group has a quota, or 0  15 how many units it has
--               16 how many buyers and 17 how many ranges were staged
--               and with several lanes 18 the number that "claim" gave  19 fields of transfers and their values, all separated
--               by spaces (times in ms since the Unix epoch)
-- Returns
--   present   the round is live; nothing changed
--   claimed NUMBER   the caller with this number loads the lane, unless somebody claims it later. It is above each id that the
--             lane gave before it was lost
--   overtaken   somebody claimed the lane since, or Redis has lost what was staged; nothing changed
--   staged    the page is written
--   loaded    the round can be bought from

local sale_key, buyers_key, free_key, outbox_key, staged_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local blocked_key, staged_blocked_key, staged_free_key, transfers_key, loading_key = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
if redis.call('EXISTS', sale_key) == 1 then return 'present' end
local expires_at_ms = ARGV[2]

if ARGV[1] == 'claim' then
  local time = redis.call('TIME')
  local before = tonumber(redis.call('GET', loading_key) or 0)
  local number = math.max(time[1] * 1000000 + time[2] + ARGV[4], tonumber(ARGV[3]), before + 1)
  number = string.format('%d', number)
  redis.call('SET', loading_key, number, 'PXAT', expires_at_ms)
  return 'claimed ' .. number
end

if ARGV[1] == 'buyers' then
  for i = 3, #ARGV, 2 do
    redis.call('HSET', staged_key, ARGV[i], ARGV[i + 1])
    local blocked_until = string.match(';' .. ARGV[i + 1], ';b (%d+)')
    if blocked_until then redis.call('HSET', staged_blocked_key, ARGV[i], blocked_until) end
  end
  redis.call('PEXPIREAT', staged_key, expires_at_ms)
  redis.call('PEXPIREAT', staged_blocked_key, expires_at_ms)
  return 'staged'
end

if ARGV[1] == 'free' then
  for i = 3, #ARGV do redis.call('ZADD', staged_free_key, string.match(ARGV[i], '^%d+'), ARGV[i]) end
  redis.call('PEXPIREAT', staged_free_key, expires_at_ms)
  return 'staged'
end

if loading_key and redis.call('GET', loading_key) ~= ARGV[18] then return 'overtaken' end
if redis.call('HLEN', staged_key) ~= tonumber(ARGV[16]) or redis.call('ZCARD', staged_free_key) ~= tonumber(ARGV[17]) then
  return 'overtaken'
end
redis.call('DEL', buyers_key, free_key, outbox_key, blocked_key)
if redis.call('EXISTS', staged_key) == 1 then redis.call('RENAME', staged_key, buyers_key) end
if redis.call('EXISTS', staged_blocked_key) == 1 then redis.call('RENAME', staged_blocked_key, blocked_key) end
if redis.call('EXISTS', staged_free_key) == 1 then redis.call('RENAME', staged_free_key, free_key) end
if transfers_key then
  redis.call('DEL', transfers_key)
  for field, value in string.gmatch(ARGV[19], '(%S+) (%S+)') do redis.call('HSET', transfers_key, field, value) end
  redis.call('PEXPIREAT', transfers_key, expires_at_ms)
end
local next_unit, last_unit, returned, per_user_limit, paused, opens_at_ms, closes_at_ms, epoch_ms, version, unpaid_limit, plan,
  quota_until_ms, quota = unpack(ARGV, 3, 15)
-- All earlier purchases happened before this moment.
local now
--- @include clock
local last_won_at_ms, next_drop_ms = now, 0
if plan ~= '' then
  last_unit = 0
  --- @include available
end
--- @create next_unit last_unit returned last_won_at_ms per_user_limit paused opens_at_ms closes_at_ms epoch_ms
---   expires_at_ms version unpaid_limit next_drop_ms quota_until_ms quota
if plan ~= '' then
  local sale = ''
  --- @write plan
end
redis.call('PEXPIREAT', sale_key, expires_at_ms)
return 'loaded'
