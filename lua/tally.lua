-- Adds to the counts of answers that requests for a round got.
--
-- KEYS  1 sale  2 answers
-- ARGV  pairs of a code and how often it was given since the last run (bounded by the number of codes)
-- Returns
--   tallied       they are added
--   unknown_sale  the round has no keys, and nothing is kept of it

local sale_key, answers_key = KEYS[1], KEYS[2]
--- @include sale

for i = 1, #ARGV, 2 do redis.call('HINCRBY', answers_key, ARGV[i], ARGV[i + 1]) end
--- @read expires_at_ms
redis.call('PEXPIREAT', answers_key, expires_at_ms)
return 'tallied'
