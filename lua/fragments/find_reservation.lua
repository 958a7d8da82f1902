-- Finds reservation `id` of `user`. Sets `record` to the user's record, `at` to where the id begins in it,
-- and `state`, which stands two characters before. If there is none, `at` is nil or false. Takes `buyers_key`.
record = redis.call('HGET', buyers_key, user)
at = record and string.find(record, id, 1, true)
state = at and string.sub(record, at - 2, at - 2)
