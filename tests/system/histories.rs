//! Checks what a test's clients asked and heard, with the crate `history`.

use history::{Buyers, History, LedgerReading};
use local::recorded::{self, RoundFacts, every_order};

use crate::prelude::*;

impl Lab {
    /// Checks that what clients heard about these sales' first rounds is possible and fits the ledger. To be called
    /// once, when all requests are answered, no message is in flight and every reservation has an order. `redis` says
    /// whether it may have forgotten something.
    pub(crate) async fn check_history(&self, test: &str, sales: &[&str], redis: Redis) {
        let clocks = self.recorder.clocks();
        assert!(matches!(clocks, Clocks::Together { .. }), "all run in this process");
        self.check_history_by(clocks, test, sales, redis).await;
    }

    /// The same, of the lab's own sale, after the test itself has taken something from Redis.
    pub(crate) async fn check_history_of_a_loss(&self, test: &str) {
        let lost_at = *self.redis_written_at.get().expect("the test has written to Redis");
        self.check_history(test, &[SALE], Redis::MayForgetFrom(lost_at)).await;
    }

    /// The same, for functions and a Redis whose clocks are not the recorder's.
    pub(crate) async fn check_history_by(&self, clocks: Clocks, test: &str, sales: &[&str], redis: Redis) {
        passes(test, &self.history(clocks, test, sales, redis).await);
    }

    pub(crate) async fn history(&self, clocks: Clocks, test: &str, sales: &[&str], redis: Redis) -> History {
        let mut rounds = Vec::new();
        for sale in sales {
            let published = rounds::latest_round(&self.ledger, &round(sale, 1).sale).await;
            let audited = self.audited(&published).await;
            // A held unit might still become an order, so the ledger could not be compared with the answers.
            assert!(audited.in_redis && audited.audit.held == 0, "{test}: not at rest: {:?}", audited.audit);
            rounds.push(published);
        }
        self.history_of(&rounds, clocks, redis, Buyers::Recorded).await
    }

    async fn history_of(&self, rounds: &[Round], clocks: Clocks, redis: Redis, buyers: Buyers) -> History {
        let ledger = LedgerReading::AtRest(self.recorder.now_ns());
        let orders = every_order(&self.dynamodb, &self.table).await.unwrap();
        let mut history = self.recorder.take();
        for round in rounds {
            recorded::add_round(&mut history, round, &orders, RoundFacts { redis, buyers, clocks, ledger });
        }
        history
    }

    /// Redis counts as evidence of when something happened, unless the test has written to it.
    pub(crate) fn redis_of_test(&self) -> Redis {
        self.redis_written_at.get().map_or(Redis::Keeps, |at| Redis::MayForgetFrom(*at))
    }

    /// Checks what clients heard about the sale's rounds after a run in which a function died. The test has written to
    /// the ledger itself and moved clocks, so neither counts as evidence.
    pub(crate) async fn check_history_of_a_crash(&self, test: &str) {
        let mut rounds = Vec::new();
        for number in 1..=self.round().await.id.number.0 {
            rounds.push(self.ledger.round(&round(SALE, number)).await.unwrap().expect("the ledger keeps every round"));
        }
        passes(test, &self.history_of(&rounds, Clocks::Apart, self.redis_of_test(), Buyers::AndOthers).await);
    }
}

/// Asserts that a history is consistent. If it is not, the failure names the file that holds it.
pub(crate) fn passes(test: &str, history: &History) {
    let (report, file) = recorded::judge(history, test).unwrap();
    assert!(report.is_consistent(), "{test}: {report}\n{file:?}");
    assert!(report.judged.operations > 0 && report.judged.unchecked == 0, "{test}: {report}");
    println!("{test}: {report}");
}
