-- Looks at the line of a round, or moves it on if it is as it was when somebody looked.
--
-- KEYS  1 line      string, how far the line is: HEAD LATE_S LATE_PPB TAIL
--       2 people    HyperLogLog of the users who came early
--       3 arrivals  sorted set, user -> the second (since the Unix epoch) in which the user came late
--       4 early       string, a Bloom filter of those who came early
--       5 early_more  string, another one
-- ARGV  none to look; or 1 until when all of it is kept at least (ms since the Unix epoch), to look and keep it; or
--       1 what the line was at the look, or - if it was not there
--       2 HEAD, what comes before the late ones
--       3 TAIL, what comes after them
--       4 how many late ones to admit, or -1 to let the next two be
--       5 LATE_S: late ones before this second are admitted
--       6 LATE_PPB: and of those who came in it this part, in parts per billion
--       7 when the line expires (ms since the Unix epoch)
--       8 and 9, which may be left out: LATE_S and LATE_PPB beyond which it may not go
-- Returns
--   line NOW_MS PEOPLE LATE ADMITTED REST   Redis's clock, early ones, late ones, how many of them are admitted, and the line or -
--   advanced LATE_S LATE_PPB                it is moved
--   beyond LATE_S LATE_PPB                  it would go so far, which is too far: nothing changed
--   overtaken                               somebody else has moved it

local line_key, people_key, arrivals_key = KEYS[1], KEYS[2], KEYS[3]
local line = redis.call('GET', line_key) or '-'
local late_s, late_ppb
local is_look = #ARGV < 2
if not is_look then
  if line ~= ARGV[1] then return 'overtaken' end
  late_s, late_ppb = tonumber(ARGV[5]), tonumber(ARGV[6])
else
  late_s, late_ppb = string.match(line, '^%d+ %d+ (%d+) (%d+) ')
  late_s, late_ppb = tonumber(late_s or 0), tonumber(late_ppb or 0)
end

local now
--- @include clock
-- Exact: the product stays below 2^53 for up to nine million arrivals in a second.
local admitted = redis.call('ZCOUNT', arrivals_key, '-inf', string.format('(%d', late_s))
if late_ppb > 0 then
  admitted = admitted + math.floor(redis.call('ZCOUNT', arrivals_key, late_s, late_s) * late_ppb / 1000000000)
end
if is_look then
  -- The sale may last longer by now than when these keys were made.
  if ARGV[1] then
    for i = 1, #KEYS do redis.call('PEXPIREAT', KEYS[i], ARGV[1], 'GT') end
  end
  local people, late = redis.call('PFCOUNT', people_key), redis.call('ZCARD', arrivals_key)
  return string.format('line %d %d %d %d ', now, people, late, admitted) .. line
end

local count = tonumber(ARGV[4])
if count >= 0 then
  -- Of those who come in this second there may be more.
  local this_second = math.floor(now / 1000)
  local next_one = redis.call('ZRANGE', arrivals_key, admitted + count, admitted + count, 'WITHSCORES')
  local second = tonumber(next_one[2] or this_second)
  local ppb = 0
  if second < this_second then
    local before = redis.call('ZCOUNT', arrivals_key, '-inf', string.format('(%d', second))
    local inside = redis.call('ZCOUNT', arrivals_key, second, second)
    -- Rounded up: what is read back above is rounded down, and would be one less.
    ppb = math.ceil((admitted + count - before) * 1000000000 / inside)
  else
    second = this_second
  end
  -- It never moves back.
  if second > late_s or second == late_s and ppb > late_ppb then
    local most_s, most_ppb = tonumber(ARGV[8]), tonumber(ARGV[9])
    if most_s and (second > most_s or second == most_s and ppb > most_ppb) then
      return string.format('beyond %d %d', second, ppb)
    end
    late_s, late_ppb = second, ppb
  end
end
redis.call('SET', line_key, string.format('%s %d %d %s', ARGV[2], late_s, late_ppb, ARGV[3]), 'PXAT', ARGV[7])
return string.format('advanced %d %d', late_s, late_ppb)
