-- Sets `now` to Redis's clock: milliseconds since the Unix epoch.
do
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
