-- Claims reservations that no order has confirmed in time: their messages are to be sent again.
--
-- KEYS  1 buyers  hash, user -> entries
--       2 outbox  list of users with a reservation that no order has confirmed
-- ARGV  1 most elements of the outbox to look at
--       2 a reservation is due so long after it was made, and again so long after it was claimed (ms)
-- Returns
--   due LINES   a line "USER ENTRIES" for each user with held reservations that are due; none if nothing is due
-- where ENTRIES are joined by ";". The outbox is in the order of being due, since all wait equally long: an element is
-- a user, or "USER DUE_AT_MS" once it was claimed. Users with nothing left to confirm are dropped.

local buyers_key, outbox_key = KEYS[1], KEYS[2]
local wait = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local lines = {}
for _ = 1, math.min(tonumber(ARGV[1]), redis.call('LLEN', outbox_key)) do
  local head = redis.call('LINDEX', outbox_key, 0)
  local user, due_at = string.match(head, '^(%S+) ?(%d*)$')
  due_at = tonumber(due_at)

  local held, first = {}, nil
  for entry in string.gmatch(redis.call('HGET', buyers_key, user) or '', '[^;]+') do
    local state, reserved_at = string.match(entry, '^%d+ (%a) %x+ %d+ (%d+)$')
    reserved_at = tonumber(reserved_at)
    if state == 'h' then
      if reserved_at + wait <= now then held[#held + 1] = entry end
      if not first or reserved_at < first then first = reserved_at end
    end
  end

  if first then
    if (due_at or first + wait) > now then break end
    -- Written before it is taken away, so that the key and its expiry never go.
    redis.call('RPUSH', outbox_key, string.format('%s %d', user, now + wait))
    if #held > 0 then lines[#lines + 1] = user .. ' ' .. table.concat(held, ';') end
  end
  redis.call('LPOP', outbox_key)
end
return 'due ' .. table.concat(lines, '\n')
