-- Whoever remembers the buyers as of `last_won_at_ms` does not know a user who had no entry until now. Takes `sale_key`,
-- `last_won_at_ms` and `record`, the user's as it was before.
if not string.find(';' .. (record or ''), ';%d') then
  local now
  --- @include clock
  last_won_at_ms = math.max(now, last_won_at_ms + 1)
  --- @write last_won_at_ms
end
