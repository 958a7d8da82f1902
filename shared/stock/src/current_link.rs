use std::sync::Arc;
use std::time::Duration;

use super::sync::{ArcSwapOption, Instant, Mutex, PoisonError, Semaphore, timeout};

/// The link that all calls share until it is replaced. Calls under way keep the old one.
pub(crate) struct CurrentLink<L, C> {
    opened: ArcSwapOption<Opened<L, C>>,
    opening: Mutex<()>,
    renewing: Semaphore,
}

pub(crate) struct Opened<L, C> {
    pub(crate) link: L,
    pub(crate) credentials: Option<Arc<C>>,
    since: Instant,
}

impl<L, C> Opened<L, C> {
    pub(crate) fn age(&self) -> Duration {
        self.since.elapsed()
    }
}

impl<L, C: PartialEq> CurrentLink<L, C> {
    pub(crate) fn new() -> Self {
        Self { opened: ArcSwapOption::empty(), opening: Mutex::new(()), renewing: Semaphore::new(1) }
    }

    pub(crate) fn opened<E>(
        &self,
        credentials: Option<Arc<C>>,
        make: impl FnOnce(Option<&C>) -> Result<L, E>,
    ) -> Result<Arc<Opened<L, C>>, E> {
        let known = || self.opened.load_full().filter(|opened| opened.credentials == credentials);
        if let Some(opened) = known() {
            return Ok(opened);
        }
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = known() {
            return Ok(opened);
        }
        let link = make(credentials.as_deref())?;
        let opened = Arc::new(Opened { link, credentials, since: Instant::now() });
        self.opened.store(Some(Arc::clone(&opened)));
        Ok(opened)
    }

    /// Replaces `old` by `link`, unless another caller has already replaced it.
    pub(crate) fn replace(&self, old: &Arc<Opened<L, C>>, link: L) {
        let fresh = Opened { link, credentials: old.credentials.clone(), since: Instant::now() };
        self.opened.compare_and_swap(&Some(Arc::clone(old)), Some(Arc::new(fresh)));
    }

    /// Replaces `silent` by what `connecting` makes, once. Fails if that fails or takes too long.
    pub(crate) async fn renew<E>(
        &self,
        silent: &Arc<Opened<L, C>>,
        within: Duration,
        connecting: impl Future<Output = Result<L, E>>,
    ) -> Result<(), Option<E>> {
        let Ok(_renewing) = self.renewing.try_acquire() else { return Ok(()) };
        if !self.opened.load_full().is_some_and(|current| Arc::ptr_eq(&current, silent)) {
            return Ok(());
        }
        let link = timeout(within, connecting).await.map_err(|_| None)?.map_err(Some)?;
        self.replace(silent, link);
        Ok(())
    }
}
