-- Claims reservations that no order has confirmed in time: their messages are to be sent again.
--
-- KEYS  1 buyers  hash, user -> entries
--       2 outbox  list of reservations that no order has confirmed (README.md has its elements)
-- ARGV  1 most elements of the outbox to look at
--       2 a reservation is due so long after it was made, and claimed again each time as long has passed (ms)
-- Returns
--   due LOOKED LENGTH LINES   LOOKED elements were looked at, of LENGTH that there were; a line "USER ENTRIES" for each
--                             element that is due, after a line break; fewer than asked for means that nothing else is
--                             due
-- where ENTRIES are joined by ";". The outbox is in the order of being due, since all wait equally long. An element whose
-- reservation is no longer held is dropped, due or not.

local buyers_key, outbox_key = KEYS[1], KEYS[2]
local wait = tonumber(ARGV[2])
local now
--- @include clock

local length = redis.call('LLEN', outbox_key)
local lines, looked = {}, 0
while looked < math.min(tonumber(ARGV[1]), length) do
  local head = redis.call('LINDEX', outbox_key, 0)
  local user, made_at, due_at = string.match(head, '^(%S+) 0(%d+) ?(%d*)$')
  -- The version before wrote "USER", or "USER DUE_AT_MS" once it was claimed, for all of the user's reservations.
  if not user then user, due_at = string.match(head, '^(%S+) ?(%d*)$') end
  made_at, due_at = tonumber(made_at), tonumber(due_at)

  local due, again, is_early = {}, {}, false
  for entry in string.gmatch(redis.call('HGET', buyers_key, user) or '', '[^;]+') do
    local state, reserved_at = string.match(entry, '^%d+ (%a) %x+ %d+ (%d+)$')
    if state == 'h' and (not made_at or tonumber(reserved_at) == made_at) then
      local due_from = math.max(due_at or 0, reserved_at + wait)
      if due_from > now then
        is_early = true
        again[#again + 1] = string.format('%s 0%s %d', user, reserved_at, due_from)
      else
        -- Claimed again and again, and sent at doubling ages: through a long outage each copy becomes a dead letter.
        local age, before = now - reserved_at, (due_at or 0) - wait - reserved_at
        local _, doublings = math.frexp(age / math.max(wait, 1))
        local _, doublings_before = math.frexp(before / math.max(wait, 1))
        if wait == 0 or before < wait or doublings > doublings_before then due[#due + 1] = entry end
        again[#again + 1] = string.format('%s 0%s %d', user, reserved_at, now + wait)
      end
    end
  end
  if made_at and is_early then break end

  -- Written before it is taken away, so that the key and its expiry never go. Two reservations of a user in the same
  -- millisecond have an element each, and each of these stands for both.
  if made_at then
    if again[1] then redis.call('RPUSH', outbox_key, again[1]) end
  else
    for _, element in ipairs(again) do redis.call('RPUSH', outbox_key, element) end
  end
  redis.call('LPOP', outbox_key)
  if #due > 0 then lines[#lines + 1] = user .. ' ' .. table.concat(due, ';') end
  looked = looked + 1
end
return string.format('due %d %d\n', looked, length) .. table.concat(lines, '\n')
