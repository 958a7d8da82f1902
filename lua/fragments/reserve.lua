-- Takes one unit for `user` under `id` and returns the script's answer. Takes the keys, `user`, `id`, `lead_ms` and
-- `has_quota`; the last two are nil for a user in no group.
--- @include sale
--- @read next_unit last_unit returned moves last_won_at_ms per_user_limit paused opens_at_ms closes_at_ms expires_at_ms
--- @constant COOLDOWN_MS

-- "Sold out" comes before the clock: most of the crowd gets this answer, so it should cost the least. There are no
-- local functions: creating two in each call took 5 % of a winner's time and 8 % of everybody else's. A plan is only
-- read once nothing is left of what it has made available.
local now, refusal, own_quota, next_drop_at
if returned == 0 and next_unit > last_unit then
  --- @has plan
  if has_plan then
    --- @include drop
  else
    refusal = string.format('sold_out %d %d', last_won_at_ms, COOLDOWN_MS)
  end
end
if not refusal then
  --- @include clock
  -- A round that was closed early, while only a group could buy, is closed for everyone.
  if now < opens_at_ms and now < opens_at_ms - (lead_ms or 0) and now < closes_at_ms then
    return string.format('not_open %d', opens_at_ms - (lead_ms or 0))
  end
  --- @read cooldown_until_ms quota_until_ms quota
  local sold_out_for, next_at
  if now >= closes_at_ms then refusal = 'closed'
  elseif paused ~= 0 then refusal = 'paused'
  elseif next_drop_at and next_unit > last_unit then
    --- @include until_drop
  else
    if now < quota_until_ms then
      if has_quota == '1' then own_quota = quota
      elseif returned + last_unit + 1 - next_unit <= quota then
        refusal = string.format('quota_only %d', quota_until_ms)
      end
    end
    if now < cooldown_until_ms and not refusal then
      --- @has plan
      sold_out_for, next_at = cooldown_until_ms - now, has_plan and cooldown_until_ms
    end
  end
  if sold_out_for then
    refusal = string.format('sold_out %d %d', last_won_at_ms, sold_out_for)
    if next_at then refusal = string.format('%s %d', refusal, next_at) end
  end
end

local unit, range_end, reservation, record
if refusal then
  record = redis.call('HGET', buyers_key, user)
  if not record then return refusal end
else
  --- @include lowest_unit
  if unit then
    reservation = string.format('0 h %s %d %d', id, unit, now)
    if redis.call('HSETNX', buyers_key, user, reservation) == 0 then record = redis.call('HGET', buyers_key, user) end
  else
    --- @write returned
    refusal = string.format('sold_out %d %d', last_won_at_ms, COOLDOWN_MS)
    record = redis.call('HGET', buyers_key, user)
    if not record then return refusal end
  end
end

if record then
  -- A repeated request gets the same answer again, even if the sale has ended since.
  local live, used, blocked_until = {}, {}, nil
  for old in string.gmatch(record, '[^;]+') do
    local slot, state, old_id = string.match(old, '^(%d+) (%a) (%x+) ')
    if old_id == id then return 'replayed ' .. old end
    if slot and state ~= 'r' then
      live[#live + 1] = old
      used[tonumber(slot)] = true
    elseif not slot then
      blocked_until = blocked_until or tonumber(string.match(old, '^b (%d+)$'))
    end
  end
  if blocked_until then
    --- @include clock
    if now < blocked_until then return 'blocked' end
  end
  if #live >= per_user_limit then return 'already_reserved ' .. table.concat(live, ';') end
  if refusal then return refusal end
  --- @read unpaid_limit
  local unpaid = tonumber(string.match(';' .. record, ';u (%d+)') or 0)
  if unpaid >= unpaid_limit then return string.format('too_many_unpaid %d', unpaid) end
  local slot = 0
  while used[slot] do slot = slot + 1 end
  reservation = string.format('%d h %s %d %d', slot, id, unit, now)
  -- The new reservation replaces the released one that had its slot, so a record never outgrows the limit. A block in
  -- the record has ended by now.
  local kept = {}
  for old in string.gmatch(record, '[^;]+') do
    if tonumber(string.match(old, '^%d+')) ~= slot and not string.find(old, '^b ') then kept[#kept + 1] = old end
  end
  kept[#kept + 1] = reservation
  redis.call('HSET', buyers_key, user, table.concat(kept, ';'))
end

--- @include take_unit
last_won_at_ms = now
--- @write next_unit last_unit returned moves last_won_at_ms

if own_quota and own_quota > 0 then
  -- The group's purchases use up its quota first. The note tells `release` to give one back to it.
  local quota, parts = own_quota - 1, ';' .. redis.call('HGET', buyers_key, user)
  local before, count, after = string.match(parts, '^(.*;s )(%d+)(.*)$')
  parts = count and string.format('%s%d%s', before, count + 1, after) or parts .. ';s 1'
  redis.call('HSET', buyers_key, user, string.sub(parts, 2))
  --- @write quota
end

if redis.call('RPUSH', outbox_key, string.format('%s %d', user, now)) == 1 then
  -- The first reservation creates both keys; they expire with the round.
  redis.call('PEXPIREAT', outbox_key, expires_at_ms)
  redis.call('PEXPIREAT', buyers_key, expires_at_ms)
end
return 'reserved ' .. reservation
