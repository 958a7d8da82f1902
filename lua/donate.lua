-- Gives half of what a lane has free to another lane, at least one unit. The units leave this lane and are recorded under
-- the transfer's id, until `close_transfer` removes the record. There is at most one open transfer to a lane: until it
-- is closed, each run answers with it.
--
-- KEYS  1 sale  2 free  3 transfers
-- ARGV  1 index of the receiving lane
--       2 how long before everyone's opening its user may buy (ms); or -1 for a reservation that needs another unit: it
--         gets one at any time, also one in cooldown
--       3 the latest id that the receiving lane took: the new transfer's id is later, even if this lane has forgotten some
-- Returns
--   donated ID RANGES [cooldown]   these units are on their way: "FIRST-LAST", joined by ",";
--                         with "cooldown" if they are in cooldown
--   sold_out MS FOR_MS    nothing is free here, or all of it is in cooldown, for another FOR_MS; the last unit was
--                         handed out at MS (ms since the Unix epoch)
--   not_open MS           opens for the user at MS (ms since the Unix epoch)
--   closed | paused | unknown_sale

local sale_key, free_key, transfers_key = KEYS[1], KEYS[2], KEYS[3]
local to, lead_ms, heard = 'to:' .. ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local is_reseat = lead_ms < 0
--- @include sale
local open = redis.call('HGET', transfers_key, to)
if open then return 'donated ' .. open end

--- @read next_unit last_unit returned moves last_won_at_ms paused opens_at_ms closes_at_ms expires_at_ms
---   cooldown_until_ms
--- @constant COOLDOWN_MS
local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now = math.floor(now_us / 1000)
if not is_reseat then
  if now >= closes_at_ms then return 'closed' end
  if now < opens_at_ms - lead_ms then return string.format('not_open %d', opens_at_ms - lead_ms) end
  if paused ~= 0 then return 'paused' end
  if now < cooldown_until_ms then return string.format('sold_out %d %d', last_won_at_ms, cooldown_until_ms - now) end
end
local fresh = last_unit + 1 - next_unit
if returned == 0 and fresh <= 0 then return string.format('sold_out %d %d', last_won_at_ms, COOLDOWN_MS) end

-- From the end, since this lane hands out from the beginning. Of single units, at most as many as one call can take
-- quickly.
local ranges, count = {}, 0
if fresh > 0 then
  count = is_reseat and 1 or math.max(1, math.floor(fresh / 2))
  ranges[1] = string.format('%d-%d', last_unit - count + 1, last_unit)
  last_unit = last_unit - count
else
  local wanted = is_reseat and 1 or math.max(1, math.floor(returned / 2))
  for _, range in ipairs(redis.call('ZRANGE', free_key, 0, 99, 'REV')) do
    if count == wanted then break end
    local first, last = string.match(range, '^(%d+)%-(%d+)$')
    local from = math.max(tonumber(first), last - (wanted - count) + 1)
    redis.call('ZREM', free_key, range)
    if from > tonumber(first) then redis.call('ZADD', free_key, first, string.format('%s-%d', first, from - 1)) end
    ranges[#ranges + 1] = string.format('%d-%s', from, last)
    count = count + last + 1 - from
  end
  if count == 0 then
    -- The count of returned units was too high.
    returned = 0
    --- @write returned
    return string.format('sold_out %d %d', last_won_at_ms, COOLDOWN_MS)
  end
  returned = math.max(0, returned - count)
  redis.call('PEXPIREAT', free_key, expires_at_ms)
end
moves = moves + 1
--- @write next_unit last_unit returned moves

-- The receiving lane takes no id twice, and only later ones. A replica that took over may not know which ids this lane
-- used.
local id = math.max(now_us, (tonumber(redis.call('HGET', transfers_key, 'last')) or 0) + 1, heard + 1)
local record = string.format('%d %s', id, table.concat(ranges, ',')) .. (now < cooldown_until_ms and ' cooldown' or '')
redis.call('HSET', transfers_key, 'last', string.format('%d', id), to, record)
redis.call('HINCRBY', transfers_key, 'open', count)
redis.call('HINCRBY', transfers_key, 'given', 1)
redis.call('PEXPIREAT', transfers_key, expires_at_ms)
return 'donated ' .. record
