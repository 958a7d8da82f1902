-- Holds back what came to a round in which nothing was free: see README.md. Takes `sale_key`.
do
  --- @constant HOLD_BACK_MS
  local now
  --- @include clock
  local sellable_at_ms = now + HOLD_BACK_MS
  --- @write sellable_at_ms
end
