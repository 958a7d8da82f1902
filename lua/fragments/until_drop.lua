-- For a round with a plan that has nothing left until the next drop: sets `sold_out_for` to how long nobody gets a unit
-- (ms), and `next_at` to when somebody can, or nil if nothing more drops before it closes. Takes `now`, `next_drop_at`,
-- `closes_at_ms` and `cooldown_until_ms`.
sold_out_for, next_at = COOLDOWN_MS, nil
if next_drop_at > 0 then
  sold_out_for = math.max(0, math.min(COOLDOWN_MS, next_drop_at - now))
  if next_drop_at < closes_at_ms then next_at = math.max(next_drop_at, cooldown_until_ms) end
end
