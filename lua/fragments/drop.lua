-- Checks whether more units have become available in a round with a plan. Raises `last_unit`, and sets `next_drop_at`
-- to the time of the next drop, or 0 if there is none. Takes `sale` and `sale_key`, and writes the result, so the plan
-- is only read once for each drop.
do
  local now
  --- @include clock
  --- @read next_drop_ms
  if next_drop_ms > 0 and now >= next_drop_ms then
    --- @read plan
    --- @include available
    --- @write last_unit next_drop_ms
  end
  next_drop_at = next_drop_ms
end
