-- Claims reservations that no order has confirmed in time: their messages are to be sent again. Each claim says that its
-- message was not sent, until the next call says that it was.
--
-- KEYS  1 buyers  2 outbox
-- ARGV  1 most elements of the outbox to look at
--       2 a reservation is due so long after it was made, and claimed again as long after a claim that was not sent. Once
--         sent, it is claimed again only as its age doubles (ms)
--       3 DUE_AT_MS of an earlier call of which every message was sent since; left out if there is none
-- Returns
--   due READ LENGTH DUE_AT_MS LINES   READ elements were read, of LENGTH that there were; a line "USER RESERVATIONS"
--                                       for each element that is due, after a line break; fewer than asked for means that
--                                       nothing else is due. All that were looked at are due again at DUE_AT_MS.
-- where RESERVATIONS are joined by ";". The outbox is in the order of being due, since all wait equally long. An
-- element whose reservation is no longer held is dropped, due or not.

local buyers_key, outbox_key = KEYS[1], KEYS[2]
local wait = tonumber(ARGV[2])
local now
--- @include clock

-- What a call claims it puts behind everything else. Reservations that were made since are behind it; if they are very many,
-- the claims stay as not sent, and are sent once more.
local sent_at, from_end, most_from_end, chunk = tonumber(ARGV[3]), 0, 5000, 500
while sent_at and from_end < most_from_end do
  local elements = redis.call('LRANGE', outbox_key, -from_end - chunk, -from_end - 1)
  local is_last = #elements < chunk
  for at = #elements, 1, -1 do
    local rest, unsent, due_at = string.match(elements[at], '^(%S+ %d+) (0?)(%d+)$')
    due_at = tonumber(due_at)
    is_last = is_last or due_at and due_at < sent_at
    if due_at == sent_at and unsent == '0' then
      redis.call('LSET', outbox_key, at - #elements - 1 - from_end, string.format('%s %d', rest, due_at))
    end
  end
  if is_last then break end
  from_end = from_end + chunk
end

local length = redis.call('LLEN', outbox_key)
local lines, read = {}, 0
while read < math.min(tonumber(ARGV[1]), length) do
  local user, made_at, unsent, due_at = string.match(redis.call('LINDEX', outbox_key, 0), '^(%S+) (%d+) ?(0?)(%d*)$')
  made_at, due_at = tonumber(made_at), tonumber(due_at)

  -- Two reservations that a user made in the same millisecond have one element each; either element stands for both.
  local held = {}
  for reservation in string.gmatch(redis.call('HGET', buyers_key, user) or '', '[^;]+') do
    local state, reserved_at = string.match(reservation, '^%d+ (%a) %x+ %d+ (%d+)$')
    if state == 'h' and tonumber(reserved_at) == made_at then held[#held + 1] = reservation end
  end
  if #held > 0 then
    if math.max(due_at or 0, made_at + wait) > now then break end
    -- Looked at again and again, and sent at doubling ages: through a long outage each copy becomes a dead letter.
    local age, before = now - made_at, (due_at or 0) - wait - made_at
    local _, doublings = math.frexp(age / math.max(wait, 1))
    local _, doublings_before = math.frexp(before / math.max(wait, 1))
    local is_due = unsent == '0' or wait == 0 or before < wait or doublings > doublings_before
    if is_due then lines[#lines + 1] = user .. ' ' .. table.concat(held, ';') end
    -- Written before the old one is removed, so that the key and its expiry never disappear.
    redis.call('RPUSH', outbox_key, string.format('%s %d %s%d', user, made_at, is_due and '0' or '', now + wait))
  end
  redis.call('LPOP', outbox_key)
  read = read + 1
end
return string.format('due %d %d %d\n', read, length, now + wait) .. table.concat(lines, '\n')
