-- Names everybody who has or had a reservation in a round in which nothing can be handed out. One call, since a scan in
-- pages may lose names when another node takes over in between.
--
-- KEYS  1 sale    string, packed (layout in README.md)
--       2 buyers  hash, user -> entries
--       3 denied  hash, user -> until when the note in the user's record denies
-- ARGV  1 most users to name; those who are denied do not count
-- Returns
--   buyers MS       the users, each after a line break, as of when the last unit was handed out (ms since the Unix epoch);
--                   some of them may have no reservation
--   too_many COUNT  there are so many
--   selling         units can be handed out
--   unknown_sale

local sale_key, buyers_key, denied_key = KEYS[1], KEYS[2], KEYS[3]
local sale = redis.call('GET', sale_key)
if not sale then return 'unknown_sale' end
local next_unit, last_unit, returned, _, won_at = struct.unpack('>I4I4I4I4I6', sale)
if returned > 0 or next_unit <= last_unit then
  local time = redis.call('TIME')
  local sellable_at = #sale >= 58 and struct.unpack('>I6', sale, 53) or 0
  if time[1] * 1000 + math.floor(time[2] / 1000) >= sellable_at then return 'selling' end
end

local count = redis.call('HLEN', buyers_key) - redis.call('HLEN', denied_key)
if count > tonumber(ARGV[1]) then return string.format('too_many %d', count) end
return string.format('buyers %d\n', won_at) .. table.concat(redis.call('HKEYS', buyers_key), '\n')
