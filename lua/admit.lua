-- Admits a user to a sale, within the rates. Step "challenge" stores the challenge's answer; step "answer" checks the
-- user's answer and uses the challenge up, while there is something to buy; step "pass" admits in a sale without
-- challenges. Each step may run twice: the second run answers like the first and is not charged.
--
-- KEYS  1 sale  2 buyers  3 challenge: the right answer, or what was answered a few seconds ago
--       4 rate of the user  5 rate of the address  6 rate of everybody (GCRA's theoretical arrival times)
-- ARGV  1 step: "challenge", "answer" or "pass"
--       2 user id
--       3 the right answer, or the user's; any word for step "pass"
--       4 how long the challenge is valid, or its answer is remembered (ms)
--       5 user, 7 address, 9 everybody: microseconds between two requests, or 0 for no limit; each followed by how
--         many may come at once
--       11 how long before everyone's opening the user may buy (ms)
--       12 1 if the user may have units of the quota, 0 otherwise
--       13 1 if another lane may have a unit for the user although this one has none; left out otherwise
-- Returns
--   challenged               the challenge is stored
--   admitted MS              the answer is right, and was given for the first time at MS
--   wrong_answer AGAIN       the answer is wrong. AGAIN is 1 if the same answer was given a moment ago, else 0
--   no_challenge             there is no such challenge: it expired, was used up, or never existed
--   rate_limited MS OWN      too many requests; the next one is allowed in MS. OWN is 1 for the user's own limit, else 0
--   not_open MS              opens for the user at MS
--   sold_out MS FOR_MS [NEXT]  the last unit was handed out at MS, and nobody gets one within the next FOR_MS; with a plan,
--                            the next units come at NEXT
--   quota_only MS            what is left is a group's quota until MS
--   closed | paused | unknown_sale
--   blocked                  a note in the user's record blocks the user
-- where MS are milliseconds: since the Unix epoch if it is a point in time.

local sale_key, buyers_key, challenge_key = KEYS[1], KEYS[2], KEYS[3]
local step, user, answer, life_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include sale
--- @read next_unit last_unit returned last_won_at_ms paused opens_at_ms closes_at_ms
local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now = math.floor(now_us / 1000)
if now >= closes_at_ms then return 'closed' end
local record = ';' .. (redis.call('HGET', buyers_key, user) or '')
-- Said only after the rates, which keep out whoever asks too often.
local blocked = (tonumber(string.match(record, ';b (%d+)')) or 0) > now

local state, noted, admitted_at = string.match(redis.call('GET', challenge_key) or '', '^(%a+) (%S+) ?(%d*)$')
if blocked then
  state, noted = nil, nil
elseif step == 'challenge' then
  if state then return 'challenged' end
elseif noted == answer then
  local was_right, was_wrong = state == 'right', state == 'wrong'
  if was_right then return 'admitted ' .. admitted_at end
  if was_wrong then return 'wrong_answer 1' end
end

-- GCRA: a request is allowed if it comes no earlier than `burst` intervals before all earlier ones are used up. Nothing
-- is charged unless every limit allows it.
local used_up, waits_us, wait_us = {}, {}, 0
for i = 0, 1 do
  local interval, burst = tonumber(ARGV[5 + 2 * i]), tonumber(ARGV[6 + 2 * i])
  if interval > 0 then
    local at = math.max(tonumber(redis.call('GET', KEYS[4 + i]) or 0), now_us) + interval
    used_up[4 + i] = at
    waits_us[i] = at - interval * burst - now_us
    wait_us = math.max(wait_us, waits_us[i])
  end
end
if wait_us > 0 then
  local own = (waits_us[0] or 0) > 0
  return string.format('rate_limited %d %d', math.ceil(wait_us / 1000), own and 1 or 0)
end
for i, at in pairs(used_up) do
  redis.call('SET', KEYS[i], string.format('%d', at), 'PX', math.ceil((at - now_us) / 1000))
end
if blocked then return 'blocked' end

if step == 'challenge' then
  redis.call('SET', challenge_key, 'open ' .. answer, 'PX', life_ms)
  return 'challenged'
end
if now < opens_at_ms - ARGV[11] then return string.format('not_open %d', opens_at_ms - ARGV[11]) end
if paused ~= 0 then return 'paused' end

--- @constant COOLDOWN_MS
--- @read cooldown_until_ms quota_until_ms quota
local sold_out, sold_out_for, next_drop_at, next_at
--- @include sold_out
if sold_out then
  --- @include until_drop
elseif now < cooldown_until_ms then
  --- @has plan
  sold_out_for, next_at = cooldown_until_ms - now, has_plan and cooldown_until_ms
end
-- A user with a reservation may ask for it again, whatever is left.
if not string.find(record, ';%d') then
  if not sold_out and now < quota_until_ms and ARGV[12] ~= '1' and returned + last_unit + 1 - next_unit <= quota then
    return string.format('quota_only %d', quota_until_ms)
  end
  if sold_out_for and not ARGV[13] then
    return string.format('sold_out %d %d', last_won_at_ms, sold_out_for) .. (next_at and string.format(' %d', next_at) or '')
  end
end

if step == 'answer' then
  local is_open = state == 'open'
  if not is_open then return 'no_challenge' end
  if noted ~= answer then
    redis.call('SET', challenge_key, 'wrong ' .. answer, 'PX', life_ms)
    return 'wrong_answer 0'
  end
end
-- Only a right answer counts for everybody. Anybody can send many wrong ones, which would otherwise keep everybody out.
-- A user who is refused here can send the same answer again.
local everybody = tonumber(ARGV[9])
if everybody > 0 then
  local at = math.max(tonumber(redis.call('GET', KEYS[6]) or 0), now_us) + everybody
  wait_us = at - everybody * tonumber(ARGV[10]) - now_us
  if wait_us > 0 then return string.format('rate_limited %d 0', math.ceil(wait_us / 1000)) end
  redis.call('SET', KEYS[6], string.format('%d', at), 'PX', math.ceil((at - now_us) / 1000))
end
redis.call('SET', challenge_key, string.format('right %s %d', answer, now), 'PX', life_ms)
return string.format('admitted %d', now)
