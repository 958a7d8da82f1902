-- Puts a user in the line of a round, or repeats where the user is. Users who come before the opening form one class;
-- later ones are in the class of the second in which they first asked.
--
-- KEYS  1 people  2 early: the first caller sets its size  3 arrivals  4 line: exists once it has opened
--       5 early_more: for users who come after the first filter is full
-- ARGV  1 when tickets are first given out (ms since the Unix epoch)
--       2 when the sale opens (ms)
--       3 when it closes (ms)
--       4 the user
--       5 bits of a new filter, a multiple of 8
--       6 when the keys expire (ms)
--       7 bits of another filter, a multiple of 8
--       8 and on: hashes of the user below 2^32, one for each bit that the filter sets for a user
-- Returns
--   early          the user came before the opening
--   late SECOND    the user came in this second
--   not_open MS    tickets are given out from MS on
--   closed         the sale is over

local people_key, early_key, arrivals_key, line_key, more_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local from_ms, opens_at_ms, closes_at_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local user, expires_at_ms = ARGV[4], tonumber(ARGV[6])
local now
--- @include clock
if now < from_ms then return string.format('not_open %d', from_ms) end
if now >= closes_at_ms then return 'closed' end

local bits, more_bits = redis.call('STRLEN', early_key) * 8, redis.call('STRLEN', more_key) * 8
-- Once the line has opened its order is fixed, even if the caller or another clock says it has not opened.
if now < opens_at_ms and redis.call('EXISTS', line_key) == 0 then
  if bits == 0 then
    bits = tonumber(ARGV[5])
    redis.call('SETBIT', early_key, bits - 1, 0)
  end
  for i = 8, #ARGV do
    local word = tonumber(ARGV[i])
    if more_bits > 0 then redis.call('SETBIT', more_key, word % more_bits, 1)
    else redis.call('SETBIT', early_key, word % bits, 1) end
  end
  -- The filter is full when it has less than ten bits for each person. The count is checked when it changes.
  if redis.call('PFADD', people_key, user) == 1 and more_bits == 0 and redis.call('PFCOUNT', people_key) > bits / 10 then
    redis.call('SETBIT', more_key, tonumber(ARGV[7]) - 1, 0)
    redis.call('PEXPIREAT', more_key, ARGV[6])
  end
  -- The user was late for an opening that has been postponed since.
  redis.call('ZREM', arrivals_key, user)
  -- The first user sets the expiry; later ones extend it if the sale now lasts longer.
  if redis.call('PEXPIRETIME', early_key) < expires_at_ms then
    for i = 1, #KEYS do redis.call('PEXPIREAT', KEYS[i], ARGV[6]) end
  end
  return 'early'
end

-- A filter never forgets anybody, but takes one in a hundred others for a member.
for filter_key, size in pairs({ [early_key] = bits, [more_key] = more_bits }) do
  local is_early = size > 0
  for i = 8, #ARGV do
    is_early = is_early and redis.call('GETBIT', filter_key, tonumber(ARGV[i]) % size) == 1
  end
  if is_early then return 'early' end
end
local second = math.floor(now / 1000)
if redis.call('ZADD', arrivals_key, 'NX', second, user) == 0 then
  second = tonumber(redis.call('ZSCORE', arrivals_key, user))
elseif redis.call('PEXPIRETIME', arrivals_key) < expires_at_ms then
  redis.call('PEXPIREAT', arrivals_key, ARGV[6])
end
-- A user who came before the current opening is early, even if the sale was first to open earlier.
if now >= opens_at_ms and (second + 1) * 1000 <= opens_at_ms then return 'early' end
return string.format('late %d', second)
