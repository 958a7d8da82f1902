-- Lets a user towards a sale, within the rates. Step "challenge" notes what the user is to answer; step "answer" takes
-- the answer, once, while there is something to buy.
--
-- KEYS  1 sale       string, packed (layout in README.md)
--       2 buyers     hash, user -> entries
--       3 challenge  string "ID ANSWER": what the user is to answer
--       4 user, 5 address, 6 everybody: strings, when the user, the address and the sale's public have used up what
--         they did (microseconds since the Unix epoch; GCRA's theoretical arrival time)
-- ARGV  1 step: "challenge" or "answer"
--       2 user id
--       3 challenge id
--       4 its right answer, or the one given
--       5 how long the challenge holds (ms)
--       6 user, 8 address, 10 everybody: microseconds between two requests, or 0 for no limit; and after each one how
--         many may come at once
-- Returns
--   challenged               the user is to answer
--   admitted MS RETURNING    the answer is right, at MS; RETURNING is 1 for a user with reservations here, else 0
--   wrong_answer             it is not, or the challenge is another, is over or was used
--   rate_limited MS OWN      too many requests; one will be taken in MS. OWN is 1 if the user's own are, else 0
--   not_open MS              opens at MS
--   sold_out MS              the last unit was handed out at MS
--   closed | paused | unknown_sale
--   denied                   a note in the user's record keeps the user out
-- where MS are milliseconds, since the Unix epoch if it is a moment.

local sale_key, buyers_key, challenge_key = KEYS[1], KEYS[2], KEYS[3]
local step, user, challenge = ARGV[1], ARGV[2], ARGV[3] .. ' ' .. ARGV[4]

local sale = redis.call('GET', sale_key)
if not sale then return 'unknown_sale' end
local next_unit, last_unit, returned, _, won_at, _, paused, opens_at, closes_at =
  struct.unpack('>I4I4I4I4I6BBI6I6', sale)
local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now = math.floor(now_us / 1000)
if now >= closes_at then return 'closed' end
local record = ';' .. (redis.call('HGET', buyers_key, user) or '')
if (tonumber(string.match(record, ';d (%d+)')) or 0) > now then return 'denied' end

-- GCRA: a request is taken if it comes no earlier than `burst` intervals before all earlier ones are used up. Nothing is
-- charged unless all of them take it.
local used_up, waits_us, wait_us = {}, {}, 0
for i = 0, 1 do
  local interval, burst = tonumber(ARGV[6 + 2 * i]), tonumber(ARGV[7 + 2 * i])
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

if step == 'challenge' then
  redis.call('SET', challenge_key, challenge, 'PX', ARGV[5])
  return 'challenged'
end
if now < opens_at then return string.format('not_open %d', opens_at) end
if paused ~= 0 then return 'paused' end
-- Who has a reservation may ask for it again, whatever is left.
local returning = string.find(record, ';%d') and 1 or 0
if returning == 0 and returned == 0 and next_unit > last_unit then return string.format('sold_out %d', won_at) end
-- Only a right answer counts for everybody: wrong ones, of which anybody can send many, would keep the others out. Whoever
-- is refused here can send the same answer again.
local everybody = tonumber(ARGV[10])
if everybody > 0 and redis.call('GET', challenge_key) == challenge then
  local at = math.max(tonumber(redis.call('GET', KEYS[6]) or 0), now_us) + everybody
  wait_us = at - everybody * tonumber(ARGV[11]) - now_us
  if wait_us > 0 then return string.format('rate_limited %d 0', math.ceil(wait_us / 1000)) end
  redis.call('SET', KEYS[6], string.format('%d', at), 'PX', math.ceil((at - now_us) / 1000))
end
if redis.call('GETDEL', challenge_key) ~= challenge then return 'wrong_answer' end
return string.format('admitted %d %d', now, returning)
