-- Raises `last_unit` to what `plan` has made available by `now`, and sets `next_drop_ms` to the time of the next drop,
-- or 0 if there is none. README.md has the form of a plan.
do
  local last, from, units, every = string.match(plan, '^(%d+) (%d+) (%d+) (%d+)')
  local available, next_at = 0, math.huge
  if tonumber(units) > 0 then
    local beats = math.max(0, math.floor((now - from) / every))
    available, next_at = units * beats, from + every * (beats + 1)
  end
  for at, more in string.gmatch(plan, ' (%d+)%+(%d+)') do
    at = tonumber(at)
    if at <= now then available = available + more else next_at = math.min(next_at, at) end
  end
  last = tonumber(last)
  last_unit = math.max(last_unit, math.min(available, last))
  next_drop_ms = available < last and next_at < math.huge and next_at or 0
end
