use std::collections::BTreeMap;

use redis::RedisResult;
use redis::aio::MultiplexedConnection;

/// Keys with what `DUMP` returns and the time at which they expire.
pub type Dump = BTreeMap<String, (Vec<u8>, i64)>;

/// What these keys hold, without those that do not exist. Fails if Redis does.
pub async fn dump(redis: &mut MultiplexedConnection, keys: impl IntoIterator<Item = String>) -> RedisResult<Dump> {
    let mut dumped = Dump::new();
    for key in keys {
        let mut dump = redis::pipe();
        dump.cmd("DUMP").arg(&key).cmd("PEXPIRETIME").arg(&key);
        let (dump, expires_at_ms): (Option<Vec<u8>>, i64) = dump.query_async(redis).await?;
        dumped.extend(dump.map(|dump| (key, (dump, expires_at_ms))));
    }
    Ok(dumped)
}

/// Creates the keys again. Fails if Redis does.
pub async fn undump(redis: &mut MultiplexedConnection, dump: &Dump) -> RedisResult<()> {
    for (key, (dump, expires_at_ms)) in dump {
        let mut restore = redis::cmd("RESTORE");
        restore.arg(key).arg(expires_at_ms).arg(dump).arg("ABSTTL");
        let () = restore.query_async(redis).await?;
    }
    Ok(())
}
