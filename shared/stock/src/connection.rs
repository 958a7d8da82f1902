use std::sync::Arc;

use arc_swap::ArcSwap;
use breaker::{Breaker, Broken};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Cmd, ErrorKind, FromRedisValue, RedisError};

use crate::StockError;

/// A connection that is not asked for a moment when Redis does not answer. Its clones are one.
#[derive(Clone)]
pub(crate) struct Connection(Arc<Inner>);

struct Inner {
    client: Client,
    config: ConnectionManagerConfig,
    manager: ArcSwap<ConnectionManager>,
    breaker: Breaker,
}

impl Connection {
    pub(crate) fn new(client: Client, config: ConnectionManagerConfig) -> Result<Self, RedisError> {
        let manager = ConnectionManager::new_lazy_with_config(client.clone(), config.clone())?;
        let manager = ArcSwap::from_pointee(manager);
        Ok(Self(Arc::new(Inner { client, config, manager, breaker: Breaker::new("Redis") })))
    }

    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StockError> {
        let manager = self.0.manager.load_full();
        let asking = async {
            let answer = command.query_async(&mut ConnectionManager::clone(&manager)).await;
            if answer.as_ref().is_err_and(RedisError::is_timeout) {
                self.replace(&manager);
            }
            answer
        };
        self.0.breaker.call(is_unanswered, asking).await.map_err(|broken| match broken {
            Broken::Open => StockError::Open,
            Broken::Failed(error) => StockError::Redis(error),
        })
    }

    /// Has the next call connect anew. A node that is gone without a word leaves a connection on which nothing ever comes,
    /// and which is not known to be lost for a quarter of an hour. Calls under way keep the old one; of many that were too
    /// late at once, the first replaces it.
    fn replace(&self, silent: &Arc<ConnectionManager>) {
        let Inner { client, config, manager, .. } = &*self.0;
        if let Ok(fresh) = ConnectionManager::new_lazy_with_config(client.clone(), config.clone()) {
            manager.compare_and_swap(silent, Arc::new(fresh));
        }
    }
}

/// No connection, a lost one, or none in time. What Redis refuses, it has answered.
fn is_unanswered(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Io
}
