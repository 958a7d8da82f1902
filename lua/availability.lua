-- Says how many units a lane has and whether they can be handed out, for a caller that found none in another lane.
--
-- KEYS  1 sale  2 transfers
-- Returns
--   availability FREE WAIT_MS OPEN SHORT HEARD LAST_WON_AT_MS STATE
--                  FREE units can be handed out after WAIT_MS; OPEN ones are on their way to other lanes. SHORT is not 0
--                  if it may lack units that it had before Redis lost it. HEARD is the latest id that it took from any
--                  lane. STATE changes whenever the free units do
--   unknown_sale
-- ARGV  none

local sale_key, transfers_key = KEYS[1], KEYS[2]
--- @include sale
--- @read next_unit last_unit returned moves last_won_at_ms epoch_ms version cooldown_until_ms
local now
--- @include clock
local open, short, heard = 0, 0, 0
local fields = redis.call('HGETALL', transfers_key)
for i = 1, #fields, 2 do
  local field, value = fields[i], fields[i + 1]
  if field == 'open' then open = tonumber(value)
  elseif field == 'short' then short = tonumber(value)
  elseif string.find(field, '^from:') then heard = math.max(heard, tonumber(value)) end
end
return string.format('availability %d %d %d %d %d %d %d-%d-%d-%d-%d-%d', returned + math.max(0, last_unit + 1 - next_unit),
  math.max(0, cooldown_until_ms - now), open, short, heard, last_won_at_ms, epoch_ms, version, moves, next_unit,
  last_unit, returned)
