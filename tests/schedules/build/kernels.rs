//! The sources that are compiled a second time, and the mistakes that are planted in them.

/// Sources that belong together; `src/scenarios/NAME.rs` tests them.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) sources: &'static [&'static str],
    pub(crate) mistakes: &'static [Mistake],
}

/// A mistake. Each text that it replaces occurs exactly once in the sources of its kernel.
pub(crate) struct Mistake {
    pub(crate) name: &'static str,
    pub(crate) is: &'static str,
    first: Replaced,
    others: &'static [Replaced],
}

/// The right text, and the wrong one.
type Replaced = (&'static str, &'static str);

impl Mistake {
    pub(crate) fn replaced(&self) -> Vec<Replaced> {
        [&[self.first][..], self.others].concat()
    }
}

const fn wrong(name: &'static str, is: &'static str, right: &'static str, wrong: &'static str) -> Mistake {
    Mistake { name, is, first: (right, wrong), others: &[] }
}

const fn several(name: &'static str, is: &'static str, replaced: &'static [Replaced]) -> Mistake {
    let [first, others @ ..] = replaced else { panic!("a mistake replaces something") };
    Mistake { name, is, first: *first, others }
}

/// `use` declarations that the sources of a kernel expect in their own crate.
pub(crate) const USES: &[(&str, &str)] = &[
    ("refreshed", "use crate::sync::{Clock, Moment};"),
    ("lanes_seen", "use stock::{Reserve, SoldOut, StockError};"),
    ("answer_metrics", "use api::Code;"),
];

pub(crate) const KERNELS: &[Kernel] = &[
    Kernel {
        name: "refreshed",
        sources: &["shared/runtime/src/cache/refreshed.rs"],
        mistakes: &[
            wrong(
                "read_without_the_lock",
                "A request that has to wait for a reading starts one.",
                "let _reading = self.0.reading.lock().await;\n        let now",
                "let _ = self.0.reading.lock().await;\n        let now",
            ),
            wrong(
                "not_looked_again",
                "A request that waited for a reading starts another.",
                "if let Some(value) = self.0.no_older_than(oldest, now) {",
                "if let Some(value) = self.0.no_older_than(Duration::ZERO.min(oldest), now) {",
            ),
            wrong(
                "beside_not_looked_again",
                "A background reading starts although another has just ended.",
                "if self.0.no_older_than(self.0.bounds.fresh, now).is_some() ||",
                "if self.0.no_older_than(Duration::ZERO, now).is_some() ||",
            ),
            several(
                "lock_released_early",
                "The lock is released before the background reading has ended.",
                &[
                    (
                        "        let inner = Arc::clone(&self.0);\n",
                        "        let inner = Arc::clone(&self.0);\n        drop(reading);\n",
                    ),
                    ("            drop(reading);\n        });", "        });"),
                ],
            ),
            wrong(
                "reading_ends_with_its_caller",
                "A caller that gives up ends the reading.",
                "let reading = spawn(async move {",
                "let reading = Box::pin(async move {",
            ),
        ],
    },
    Kernel {
        name: "breaker",
        sources: &["shared/runtime/src/breaker/watch.rs"],
        mistakes: &[
            wrong(
                "several_try",
                "A call does not check whether another one is trying.",
                "if opened.has_trial || Moment::now(clock).since(opened.since) < WAIT {",
                "if Moment::now(clock).since(opened.since) < WAIT {",
            ),
            wrong(
                "a_try_that_is_given_up_stays",
                "A trying call that is dropped counts as trying for ever.",
                "            opened.has_trial = false;\n",
                "            opened.has_trial = true;\n",
            ),
            several(
                "calls_from_before_count",
                "A call that began before the breaker opened ends another call's try.",
                &[
                    ("        if !self.is_trial {\n            return;\n        }\n", ""),
                    (
                        "        if self.changes == state.changes\n            && let Some(opened) = &mut state.opened\n        {\n",
                        "        if let Some(opened) = &mut state.opened {\n",
                    ),
                ],
            ),
        ],
    },
    Kernel {
        name: "current_link",
        sources: &["shared/stock/src/current_link.rs"],
        mistakes: &[
            wrong(
                "stored_not_swapped",
                "A call that found a link silent replaces the newer one that is there by now.",
                "self.opened.compare_and_swap(&Some(Arc::clone(old)), Some(Arc::new(fresh)));",
                "self.opened.store(Some(Arc::new(fresh)));",
            ),
            wrong(
                "not_looked_again",
                "A call that waited while another made a link makes one too.",
                "unwrap_or_else(PoisonError::into_inner);\n        if let Some(opened) = known() {",
                "unwrap_or_else(PoisonError::into_inner);\n        if let Some(opened) = known().filter(|_| false) {",
            ),
            wrong(
                "permit_dropped",
                "The permit to renew is given back before the link is renewed.",
                "let Ok(_renewing) = self.renewing",
                "let Ok(_) = self.renewing",
            ),
        ],
    },
    Kernel {
        name: "lanes_seen",
        sources: &["shared/stock/src/lanes_seen.rs"],
        mistakes: &[
            wrong(
                "lock_dropped",
                "The lock is released before the search.",
                "let _searching = match self.searching",
                "let _ = match self.searching",
            ),
            wrong(
                "looked_up_then_kept",
                "A round is looked up under one lock and kept under another.",
                "        Arc::clone(rounds.entry(round.clone()).or_default())\n",
                "        drop(rounds);\n        let seen = Arc::<RoundSeen>::default();\n        lock(&self.0).insert(round.clone(), Arc::clone(&seen));\n        seen\n",
            ),
        ],
    },
    Kernel {
        name: "sold_out_mark",
        sources: &["shared/process/src/sold_out_mark.rs"],
        mistakes: &[
            wrong(
                "names_as_of_any_win",
                "The buyers' names may be older than the last win.",
                ".filter(|names| names.wins == wins)",
                ".filter(|names| names.wins == wins || !names.hashes.is_empty())",
            ),
            wrong(
                "reading_not_held",
                "The lock is released before the names are read.",
                "            *again_at = Some(Instant::now() + pause.max(SHORTEST_PAUSE));\n",
                "            let _ = pause;\n",
            ),
        ],
    },
    Kernel {
        name: "turns",
        sources: &["shared/process/src/turns.rs"],
        mistakes: &[
            wrong(
                "lock_dropped",
                "The lock is released before Redis is asked.",
                "let mut leased = self.leased.lock().await;",
                "let mut kept = *self.leased.lock().await;\n        let leased = &mut kept;",
            ),
            wrong(
                "no_pause",
                "A lease that fails or is given up is retried at once.",
                "holds_for: TRY_AGAIN_AFTER });",
                "holds_for: TRY_AGAIN_AFTER.min(Duration::ZERO) });",
            ),
            wrong(
                "loaded_then_stored",
                "A turn is taken in two steps.",
                "let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));",
                "let taken = self.left.load(Ordering::Relaxed).checked_sub(1).ok_or(());\n            let taken = taken.map(|left| self.left.store(left, Ordering::Relaxed));",
            ),
        ],
    },
    Kernel {
        name: "answers",
        sources: &["shared/process/src/answer_counts.rs", "shared/process/src/debounce.rs"],
        mistakes: &[
            wrong(
                "done_before_it_may_be_asked_for",
                "A request for a flush that comes during a flush is lost.",
                "            asked.store(false, Ordering::Release);\n            work.await;\n",
                "            work.await;\n            asked.store(false, Ordering::Release);\n",
            ),
            wrong(
                "copied_then_cleared",
                "The counts are copied under one lock and cleared under another.",
                "std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))",
                "let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();\n        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();\n        counts",
            ),
        ],
    },
    Kernel {
        name: "together",
        sources: &["shared/messaging/src/queue/together.rs"],
        mistakes: &[
            wrong(
                "not_sent_again",
                "Whoever was in a batch of one who gave up takes its message for sent.",
                "                    Err(_) => continue,\n",
                "                    Err(_) => return None,\n",
            ),
            wrong(
                "grows",
                "A full batch waits like any other.",
                "waiting.entries.len() < MOST {",
                "waiting.entries.len() < MOST * MOST {",
            ),
            wrong(
                "mixed_up",
                "Whoever is in a batch hears what became of another's message.",
                "answers.into_iter().zip(results)",
                "answers.into_iter().rev().zip(results)",
            ),
        ],
    },
    Kernel {
        name: "demand",
        sources: &["shared/process/src/demand.rs"],
        mistakes: &[wrong(
            "loaded_then_stored",
            "The count is taken in two steps.",
            "self.0.swap(0, Ordering::Relaxed)",
            "let counted = self.0.load(Ordering::Relaxed);\n        self.0.store(0, Ordering::Relaxed);\n        counted",
        )],
    },
    Kernel {
        name: "kept_each",
        sources: &["shared/process/src/kept_each.rs"],
        mistakes: &[
            wrong(
                "counted_from_the_end",
                "The age of a value counts from the end of its read.",
                "began: Moment, value: V) {\n",
                "_: Moment, value: V) {\n        let began = self.now();\n",
            ),
            wrong(
                "counted_by_the_cache",
                "The age of a value counts only by the cache's clock.",
                "now.since(kept.began) < self.age",
                "now.since(kept.began) < self.age.max(Duration::MAX)",
            ),
            wrong(
                "the_last_one_is_kept",
                "A read that ends late replaces the result of one that began after it.",
                "usable.filter(|kept| !kept.began.since(began).is_zero())",
                "usable.filter(|_| false)",
            ),
            wrong(
                "an_old_one_is_kept",
                "A value from when the wall clock was ahead is kept in place of new ones.",
                "let usable = kept.filter(|kept| self.is_usable(kept, now));",
                "let usable = kept.filter(|kept| now.since(kept.began) <= Duration::MAX);",
            ),
        ],
    },
    Kernel {
        name: "watched",
        sources: &["shared/process/src/watched.rs"],
        mistakes: &[
            wrong(
                "looked_up_then_kept",
                "A round is looked up in one step and kept in another.",
                "let known = self.rounds.get_with_by_ref(round, Arc::default);",
                "let known = self.rounds.get(round).unwrap_or_default();\n        self.rounds.insert(round.clone(), Arc::clone(&known));",
            ),
            several(
                "not_looked_again",
                "A caller decides to read before it waits for another's read.",
                &[
                    (
                        "let mut known = known.lock().await;\n",
                        "let rest = known.lock().await.rest;\n        let start = Moment::now(self.clock);\n        let is_due = rest.is_none_or(|(since, pause)| start.since(since) >= pause);\n        let mut known = known.lock().await;\n",
                    ),
                    ("if rest.is_none_or(|(since, pause)| start.since(since) >= pause) {", "if is_due {"),
                ],
            ),
            wrong(
                "no_rest_when_given_up",
                "A read that is given up is made again at once.",
                "*rest = Some((start, READ_TIMEOUT * (1 + REST)));",
                "",
            ),
            several(
                "counted_while_it_runs",
                "The rest lasts until the process has run for so long.",
                &[
                    (
                        "let start = Moment::now(self.clock);\n",
                        "let clock = sale::EpochMs(self.clock.now().0.min(0));\n        let start = Moment::of(super::sync::Instant::now(), clock);\n",
                    ),
                    (
                        "let end = Moment::now(self.clock);\n",
                        "let end = Moment::of(super::sync::Instant::now(), clock);\n",
                    ),
                ],
            ),
            wrong(
                "taken_out_while_it_is_read",
                "What a round's reads remember is lost when one is cut off.",
                "let read = timeout(self.clock.limit(READ_TIMEOUT), read(remembered)).await;\n",
                "let mut taken = std::mem::take(remembered);\n            let read = timeout(self.clock.limit(READ_TIMEOUT), read(&mut taken)).await;\n            *remembered = taken;\n",
            ),
        ],
    },
    Kernel {
        name: "forgeries",
        sources: &["shared/process/src/forgeries.rs"],
        mistakes: &[several(
            "looked_up_then_kept",
            "An entry is changed in two steps.",
            &[
                (
                    "        self.0.entry_by_ref(user).and_upsert_with(|told| {\n            let mut told = told.map_or(nothing, moka::Entry::into_value);\n",
                    "        let mut change = |told: Option<Told>| {\n            let mut told = told.unwrap_or(nothing);\n",
                ),
                (
                    "            told.violations += u32::from(is_told);\n            told\n        });\n",
                    "            told.violations += u32::from(is_told);\n            told\n        };\n        let changed = change(self.0.get(user));\n        self.0.insert(user.clone(), changed);\n",
                ),
            ],
        )],
    },
    Kernel {
        name: "limiter",
        sources: &["shared/gate/src/bounded.rs"],
        mistakes: &[wrong(
            "looked_up_then_kept",
            "The state of a key is read under one lock and kept under another.",
            "        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);\n        let (outcome, state) = f(states.get(key).copied())?;\n",
            "        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied();\n        let (outcome, state) = f(known)?;\n        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);\n",
        )],
    },
    Kernel {
        name: "waking_clock",
        sources: &["shared/gate/src/waking_clock.rs"],
        mistakes: &[
            wrong(
                "loaded_then_stored",
                "The time of freezes is kept in two steps.",
                "let frozen = self.frozen.fetch_max(frozen, Ordering::Relaxed).max(frozen);",
                "let frozen = self.frozen.load(Ordering::Relaxed).max(frozen);\n        self.frozen.store(frozen, Ordering::Relaxed);",
            ),
            wrong(
                "the_latest_is_shown",
                "The latest time by either clock is shown.",
                "let ran = nanos(now.running_since(self.began));",
                "let ran = nanos(now.running_since(now));",
            ),
        ],
    },
    Kernel {
        name: "made",
        sources: &["shared/context/src/made.rs"],
        mistakes: &[wrong(
            "the_last_one_is_kept",
            "Of two made at the same time, the second replaces the first.",
            "Ok(Arc::clone(made().entry(key).or_insert(new)))",
            "made().insert(key, Arc::clone(&new));\n        Ok(new)",
        )],
    },
    Kernel {
        name: "once_per_span",
        sources: &["shared/runtime/src/once_per_span.rs"],
        mistakes: &[wrong(
            "loaded_then_stored",
            "A span is taken in two steps.",
            "now >= next && self.next.compare_exchange(next, now + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()",
            "if now >= next {\n            self.next.store(now + 1, Ordering::Relaxed);\n        }\n        now >= next",
        )],
    },
    Kernel {
        name: "counts",
        sources: &["shared/runtime/src/counts.rs"],
        mistakes: &[wrong(
            "taken_out_while_called",
            "The callbacks are taken out while they are called.",
            "        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|count| count());\n",
            "        let counts = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));\n        counts.iter().for_each(|count| count());\n        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(counts);\n",
        )],
    },
    Kernel {
        name: "answer_metrics",
        sources: &["shared/api/src/answer_metrics.rs"],
        mistakes: &[wrong(
            "loaded_then_stored",
            "A count is taken in two steps.",
            "let count = counted.swap(0, Ordering::Relaxed);",
            "let count = counted.load(Ordering::Relaxed);\n            counted.store(0, Ordering::Relaxed);",
        )],
    },
    Kernel {
        name: "pacer",
        sources: &["functions/winners/src/pacer.rs"],
        mistakes: &[several(
            "looked_up_then_kept",
            "The next moment is read under one lock and kept under another.",
            &[
                (
                    "let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);",
                    "let next = *self.next.lock().unwrap_or_else(PoisonError::into_inner);",
                ),
                (
                    "*next = Some(at + self.every);",
                    "*self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(at + self.every);",
                ),
            ],
        )],
    },
    Kernel {
        name: "missed",
        sources: &["functions/waiting_room/src/missed.rs"],
        mistakes: &[
            wrong(
                "not_noted_again",
                "A user is lost when the request that was to report them is dropped.",
                "            self.missed.note(self.round, self.user);\n",
                "            let _ = (self.missed, self.round, self.user);\n",
            ),
            wrong(
                "looked_up_then_taken",
                "A user is read under one lock and taken under another.",
                "        let user = users.pop();\n",
                "        let user = users.last().cloned();\n        drop(missed);\n        let mut missed = self.0.lock().unwrap_or_else(PoisonError::into_inner);\n        let users = missed.get_mut(round)?;\n        users.pop();\n",
            ),
        ],
    },
    Kernel {
        name: "line_cache",
        sources: &["functions/waiting_room/src/line_cache.rs"],
        mistakes: &[
            wrong(
                "looked_up_then_kept",
                "A line is looked up in one step and kept in another.",
                "let line = self.0.get_with_by_ref(round, Arc::default);",
                "let line = self.0.get(round).unwrap_or_default();\n        self.0.insert(round.clone(), Arc::clone(&line));",
            ),
            several(
                "lock_released_early",
                "The lock is released before the result is kept.",
                &[
                    (
                        "        let result = read(&mut line.remembered).await;\n",
                        "        let mut remembered = std::mem::take(&mut line.remembered);\n        drop(line);\n        let result = read(&mut remembered).await;\n        let mut line = kept.lock().await;\n        line.remembered = remembered;\n",
                    ),
                    (
                        "let mut line = line.lock().await;",
                        "let kept = line;\n        let mut line = kept.lock().await;",
                    ),
                ],
            ),
            wrong(
                "taken_out_during_a_look",
                "What a line's looks remember is lost when one is cut off.",
                "let result = read(&mut line.remembered).await;",
                "let mut taken = std::mem::take(&mut line.remembered);\n        let result = read(&mut taken).await;\n        line.remembered = taken;",
            ),
            wrong(
                "a_look_may_be_old",
                "The result of a look is shown, however long ago the look began.",
                "(at.since(began) <= LONGEST_READ)",
                "(at.since(began) <= LONGEST_READ.max(Duration::MAX))",
            ),
        ],
    },
    Kernel {
        name: "briefly",
        sources: &["functions/catalog/src/briefly.rs"],
        mistakes: &[
            wrong(
                "each_reads",
                "A caller looks up the value in one step and keeps its own in another.",
                "match self.read.try_get_with_by_ref(key, read).await {\n                Ok(Read { value, at }) => (Ok(value), at),",
                "match read.await {\n                Ok(Read { value, at }) => {\n                    self.read.insert(key.clone(), Read { value: value.clone(), at }).await;\n                    (Ok(value), at)\n                }",
            ),
            wrong(
                "a_joined_read_may_be_old",
                "A caller shows what another one read, whenever that began.",
                "if now.since(at) <= LONGEST_READ {",
                "if now.since(at) <= LONGEST_READ.max(Duration::MAX) {",
            ),
            wrong(
                "removed_although_read_again",
                "A caller that found an old value removes the new one that is there by now.",
                "kept.is_some_and(|kept| !holds(kept.value().at, now));",
                "kept.is_some_and(|kept| now.since(kept.value().at) <= Duration::MAX);",
            ),
            wrong(
                "counted_from_the_end",
                "The age of a value counts from the end of its read.",
                "read().await.map(|value| Read { value, at: now })",
                "read().await.map(|value| Read { value, at: Moment::now(self.clock) })",
            ),
            wrong(
                "a_failure_may_be_old",
                "A caller gets another one's failure, whenever that read began.",
                "(Err(Arc::clone(&failed.error)), failed.at)",
                "{\n                    let _ = failed.at;\n                    (Err(Arc::clone(&failed.error)), now)\n                }",
            ),
        ],
    },
    Kernel {
        name: "read_limit",
        sources: &["functions/catalog/src/read_limit.rs"],
        mistakes: &[
            wrong(
                "room_left_at_once",
                "The permit is given back before the look-up.",
                "let _room = self.0.acquire()",
                "let _ = self.0.acquire()",
            ),
            several(
                "room_kept_when_dropped",
                "The permit is only given back at the end of a look-up.",
                &[
                    (
                        "let _room = self.0.acquire().await.expect(\"nobody closes it\");",
                        "self.0.acquire().await.expect(\"nobody closes it\").forget();",
                    ),
                    (
                        "        read.await\n",
                        "        let found = read.await;\n        self.0.add_permits(1);\n        found\n",
                    ),
                ],
            ),
        ],
    },
    Kernel {
        name: "delivered",
        sources: &["functions/notifier/src/delivered.rs"],
        mistakes: &[wrong(
            "looked_up_then_kept",
            "An entry is changed in two steps.",
            "        self.0.entry_by_ref(record).and_upsert_with(|told| {\n            let mut told = told.map(moka::Entry::into_value).unwrap_or_default();\n            Arc::make_mut(&mut told).insert(connection.to_owned());\n            told\n        });\n",
            "        let mut told = self.0.get(record).unwrap_or_default();\n        Arc::make_mut(&mut told).insert(connection.to_owned());\n        self.0.insert(record.to_owned(), told);\n",
        )],
    },
];
