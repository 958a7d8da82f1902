-- Gives a process a share of the requests that a throttled sale may have in the current second.
--
-- KEYS  1 lease
-- ARGV  1 how many requests a second the sale may have
--       2 how many the process wants
-- Returns
--   leased COUNT MS   COUNT requests may come in the next MS milliseconds, which are the rest of the second

local lease_key = KEYS[1]
local limit, asked = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local second, granted = string.match(redis.call('GET', lease_key) or '', '^(%d+) (%d+)$')
granted = second == time[1] and tonumber(granted) or 0
local count = math.max(0, math.min(asked, limit - granted))
-- Expires one second after it stops counting.
redis.call('SET', lease_key, string.format('%s %d', time[1], granted + count), 'PX', 2000)
return string.format('leased %d %d', count, 1000 - math.floor(time[2] / 1000))
