-- Starts the cooldown of units that came into a sold-out round (see README.md). Takes `sale`, `sale_key` and
-- `next_drop_at`: 0, or the time until which everybody was told that nothing is left. It may have come since the caller
-- looked.
do
  --- @constant COOLDOWN_MS
  local now
  --- @include clock
  local until_ms = now + COOLDOWN_MS
  if next_drop_at > 0 and next_drop_at < until_ms then
    --- @read cooldown_until_ms
    until_ms = math.max(next_drop_at, cooldown_until_ms)
  end
  local cooldown_until_ms = until_ms
  --- @write cooldown_until_ms
end
