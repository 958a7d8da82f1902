-- Reads how far the line of a round has moved, or moves it if nobody has moved it since the caller read it.
--
-- KEYS  1 line: HEAD LATE_S LATE_PPB TAIL  2 people  3 arrivals  4 early  5 early_more
-- ARGV  none to read; or 1 until when to keep all of it at least (ms since the Unix epoch), to read and keep it; or
--       1 the line as the caller read it, or - if there was none
--       2 HEAD, what comes before the late ones
--       3 TAIL, what comes after them
--       4 how many late users to admit, or -1 to ignore the next two
--       5 LATE_S: users who came late before this second are admitted
--       6 LATE_PPB: the part of those who came in that second that is admitted, in parts per billion
--       7 when the line expires (ms since the Unix epoch)
--       8 and 9, optional: LATE_S and LATE_PPB beyond which it must not move
-- Returns
--   line NOW_MS PEOPLE LATE ADMITTED REST   Redis's clock, early users, late users, how many late ones are admitted, and the line or -
--   advanced LATE_S LATE_PPB                the line has moved
--   beyond LATE_S LATE_PPB                  it would move this far, which is too far; nothing changed
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
  -- The sale may now last longer than when these keys were created.
  if ARGV[1] then
    for i = 1, #KEYS do redis.call('PEXPIREAT', KEYS[i], ARGV[1], 'GT') end
  end
  local people, late = redis.call('PFCOUNT', people_key), redis.call('ZCARD', arrivals_key)
  return string.format('line %d %d %d %d ', now, people, late, admitted) .. line
end

local count = tonumber(ARGV[4])
if count >= 0 then
  -- More users may still come in the current second.
  local this_second = math.floor(now / 1000)
  local next_one = redis.call('ZRANGE', arrivals_key, admitted + count, admitted + count, 'WITHSCORES')
  local second = tonumber(next_one[2] or this_second)
  local ppb = 0
  if second < this_second then
    local before = redis.call('ZCOUNT', arrivals_key, '-inf', string.format('(%d', second))
    local inside = redis.call('ZCOUNT', arrivals_key, second, second)
    -- Rounded up, because reading it back rounds down and would lose one.
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
