-- Sets `sale` to the packed string at `sale_key`. If the round has no keys, the script ends here.
local sale = redis.call('GET', sale_key)
if not sale then return 'unknown_sale' end
