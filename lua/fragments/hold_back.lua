-- Holds back units that came into a sold-out round (see README.md). Takes `sale`, `sale_key` and `next_drop_at`: 0, or
-- the time until which everybody was told that nothing is left. It may have come since the caller looked.
do
  --- @constant HOLD_BACK_MS
  local now
  --- @include clock
  local until_ms = now + HOLD_BACK_MS
  if next_drop_at > 0 and next_drop_at < until_ms then
    --- @read sellable_at_ms
    until_ms = math.max(next_drop_at, sellable_at_ms)
  end
  local sellable_at_ms = until_ms
  --- @write sellable_at_ms
end
