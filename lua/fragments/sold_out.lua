-- Sets `sold_out` to whether no unit can be handed out now, and `next_drop_at` as `drop` does. Takes `sale`,
-- `sale_key`, `next_unit`, `last_unit` and `returned`.
sold_out, next_drop_at = returned == 0 and next_unit > last_unit, 0
if sold_out then
  --- @has plan
  if has_plan then
    --- @include drop
    sold_out = next_unit > last_unit
  end
end
