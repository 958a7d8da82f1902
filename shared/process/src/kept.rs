use std::time::Duration;

use super::sync::{Clock, Moment, Mutex, PoisonError};

/// A cached value that its next user reads again when it is old. Several may read it at once.
#[derive(Debug)]
pub(crate) struct Kept<T>(Mutex<Option<(Moment, T)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> Kept<T> {
    /// The value, less than `age` old. Fails if it must be read and cannot be.
    pub(crate) async fn younger_than<E>(
        &self,
        age: Duration,
        clock: Clock,
        read: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let now = Moment::now(clock);
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, value)) = kept.filter(|(began, _)| now.since(*began) < age) {
            return Ok(value);
        }
        let value = read.await?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, value.clone()));
        Ok(value)
    }
}
