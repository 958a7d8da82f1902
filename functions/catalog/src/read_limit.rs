use super::sync::Semaphore;

/// How many draws are looked up concurrently: those of long ago are not listed, so each made-up one costs a read.
const AT_ONCE: usize = 4;

/// Lets some requests look up draws while the others wait.
#[derive(Debug)]
pub(crate) struct ReadLimit(Semaphore);

impl ReadLimit {
    pub(crate) const fn new() -> Self {
        Self(Semaphore::const_new(AT_ONCE))
    }

    /// The result of `read`, which begins when there is room. If it is dropped, its room is free again.
    pub(crate) async fn one<T>(&self, read: impl Future<Output = T>) -> T {
        let _room = self.0.acquire().await.expect("nobody closes it");
        read.await
    }
}
