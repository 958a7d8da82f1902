//! Messages wait for their turn to notify a winner.

use super::pacer::Pacer;
use crate::prelude::*;

/// Three messages wait, and one that may be dropped. Their turns take at least two gaps.
pub fn each_has_a_moment_of_its_own() {
    let pacer = Arc::new(Pacer::per_second(10));
    let began = Instant::now();
    let messages = [(); 3].map(|()| {
        let pacer = Arc::clone(&pacer);
        spawn(async move { pacer.turn().await })
    });
    let given_up = spawn({
        let pacer = Arc::clone(&pacer);
        async move {
            let _ = until_given_up(pacer.turn()).await;
        }
    });
    block_on(async {
        all(messages).await;
        assert!(began.elapsed() >= Duration::from_millis(200), "each has a moment of its own");
        given_up.await.unwrap();
    });
}
