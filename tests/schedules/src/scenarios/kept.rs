//! Orders are placed under campaign limits, which an operator changes.

use super::kept::Kept;
use crate::prelude::*;

const AGE: Duration = Duration::from_secs(3);

/// The operator changes the limit during readings, some of which are dropped. Three seconds later no order goes by the old
/// limit.
pub fn a_change_holds_for_all_in_time() {
    let (kept, limit) = (Arc::<Kept<u32>>::default(), Arc::<AtomicU32>::default());
    let read = async |kept: &Kept<u32>, limit: &AtomicU32| {
        let reading = async {
            let read = limit.load(Ordering::Relaxed);
            // The answer is on its way.
            yield_now().await;
            Ok::<_, ()>(read)
        };
        kept.younger_than(AGE, Clock, reading).await
    };
    let orders = [(); 3].map(|()| {
        let (kept, limit) = (Arc::clone(&kept), Arc::clone(&limit));
        spawn(async move {
            let _ = until_given_up(read(&kept, &limit)).await;
        })
    });
    block_on(async {
        yield_now().await;
        limit.store(1, Ordering::Relaxed);
        let changed = Instant::now();
        pass(AGE / 2);
        yield_now().await;
        pass(AGE / 2);
        assert!(changed.elapsed() >= AGE);
        assert_eq!(read(&kept, &limit).await, Ok(1), "a change holds for all in time");
        all(orders).await;
        assert_eq!(read(&kept, &limit).await, Ok(1), "a change holds for all in time");
    });
}
