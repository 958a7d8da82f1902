-- Raises `last_won_at_ms` for a user who had no reservation until now, so that lists of buyers as of the old value are
-- out of date. Takes `sale_key`, `last_won_at_ms` and `record`, the user's record before.
if not string.find(';' .. (record or ''), ';%d') then
  local now
  --- @include clock
  last_won_at_ms = math.max(now, last_won_at_ms + 1)
  --- @write last_won_at_ms
end
