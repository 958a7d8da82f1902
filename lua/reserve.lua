-- Takes one unit for a user, if the sale is open, the user's limit allows it and a unit is left.
--
-- KEYS  1 sale    string, packed (layout in README.md)
--       2 buyers  hash, user -> entries
--       3 free    sorted set of ranges of returned units, by their first unit
--       4 outbox  list of reservations that no order has confirmed
-- ARGV  1 user id
--       2 reservation id: 32 hexadecimal digits
-- Returns
--   reserved ENTRY             the unit is the user's
--   replayed ENTRY             this id was reserved before; nothing changed
--   already_reserved ENTRIES   the user's live reservations reach the limit
--   too_many_unpaid COUNT      so many of the user's reservations in this round ended unpaid: as many as may
--   sold_out MS FOR_MS         the last unit was handed out at MS (ms since the Unix epoch), and nobody gets one within
--                              the next FOR_MS
--   closed | paused | unknown_sale
--   denied                     a note in the user's record keeps the user out; a repeated request is answered all the same
--   not_open MS                opens at MS (ms since the Unix epoch)
-- where ENTRY is "SLOT STATE ID UNIT RESERVED_AT_MS" and ENTRIES are joined by ";".

local sale_key, buyers_key, free_key, outbox_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local user, id = ARGV[1], ARGV[2]
-- How long a unit that comes back to a round in which nothing is free stays unsold: see README.md.
local HOLD_BACK_MS = 1500

local sale = redis.call('GET', sale_key)
if not sale then return 'unknown_sale' end
local next_unit, last_unit, returned, moves, won_at, limit, paused, opens_at, closes_at, _, expires_at =
  struct.unpack('>I4I4I4I4I6BBI6I6I6I6', sale)

-- Sold out comes before the clock: it is what the crowd hears, so it should cost the least. No part is a local function:
-- making two in each call was 5 % of a winner's time and 8 % of what the crowd takes.
local now, refusal
if returned == 0 and next_unit > last_unit then
  refusal = string.format('sold_out %d %d', won_at, HOLD_BACK_MS)
else
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  if now < opens_at then return string.format('not_open %d', opens_at) end
  local sellable_at = #sale >= 58 and struct.unpack('>I6', sale, 53) or 0
  if now >= closes_at then refusal = 'closed'
  elseif paused ~= 0 then refusal = 'paused'
  elseif now < sellable_at then refusal = string.format('sold_out %d %d', won_at, sellable_at - now) end
end

local unit, range_end, entry, record = next_unit
if refusal then
  record = redis.call('HGET', buyers_key, user)
  if not record then return refusal end
else
  if returned > 0 then
    unit, range_end = string.match(redis.call('ZRANGE', free_key, 0, 0)[1], '^(%d+)%-(%d+)$')
    unit, range_end = tonumber(unit), tonumber(range_end)
  end
  entry = string.format('0 h %s %d %d', id, unit, now)
  if redis.call('HSETNX', buyers_key, user, entry) == 0 then record = redis.call('HGET', buyers_key, user) end
end

if record then
  -- A repeated request hears what it heard before, also when the sale has ended since.
  local live, used, denied_until = {}, {}, nil
  for old in string.gmatch(record, '[^;]+') do
    local slot, state, old_id = string.match(old, '^(%d+) (%a) (%x+) ')
    if old_id == id then return 'replayed ' .. old end
    if slot and state ~= 'r' then
      live[#live + 1] = old
      used[tonumber(slot)] = true
    elseif not slot then
      denied_until = denied_until or tonumber(string.match(old, '^d (%d+)$'))
    end
  end
  if denied_until then
    local time = redis.call('TIME')
    if time[1] * 1000 + math.floor(time[2] / 1000) < denied_until then return 'denied' end
  end
  if #live >= limit then return 'already_reserved ' .. table.concat(live, ';') end
  if refusal then return refusal end
  local unpaid, unpaid_limit = tonumber(string.match(';' .. record, ';u (%d+)') or 0), string.byte(sale, 59) or 0
  if unpaid_limit > 0 and unpaid >= unpaid_limit then return string.format('too_many_unpaid %d', unpaid) end
  local slot = 0
  while used[slot] do slot = slot + 1 end
  entry = string.format('%d h %s %d %d', slot, id, unit, now)
  -- The new entry takes the place of the released one that had its slot, so a record never outgrows the limit. A denial
  -- that is noted here is over.
  local entries = {}
  for old in string.gmatch(record, '[^;]+') do
    if tonumber(string.match(old, '^%d+')) ~= slot and not string.find(old, '^d ') then entries[#entries + 1] = old end
  end
  entries[#entries + 1] = entry
  redis.call('HSET', buyers_key, user, table.concat(entries, ';'))
end

if returned == 0 then
  next_unit = next_unit + 1
else
  redis.call('ZPOPMIN', free_key)
  if unit < range_end then
    redis.call('ZADD', free_key, unit + 1, string.format('%d-%d', unit + 1, range_end))
    redis.call('PEXPIREAT', free_key, expires_at)
  end
  returned, moves = returned - 1, moves + 1
end
redis.call('SETRANGE', sale_key, 0, struct.pack('>I4I4I4I4I6', next_unit, last_unit, returned, moves, now))

if redis.call('RPUSH', outbox_key, string.format('%s 0%d', user, now)) == 1 then
  -- The first reservation makes both keys; they leave with the round.
  redis.call('PEXPIREAT', outbox_key, expires_at)
  redis.call('PEXPIREAT', buyers_key, expires_at)
end
return 'reserved ' .. entry
