//! The sources that are compiled a second time, and the mistakes that are planted in them.

/// Sources that belong together; `src/scenarios/NAME.rs` tests them.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    /// Its first line of documentation.
    pub(crate) is: &'static str,
    pub(crate) sources: &'static [&'static str],
    /// `use` declarations that its sources expect in their own crate.
    pub(crate) uses: &'static str,
    pub(crate) mistakes: &'static [Mistake],
}

/// A mistake. Each text that it replaces occurs exactly once in its source.
pub(crate) struct Mistake {
    pub(crate) name: &'static str,
    pub(crate) is: &'static str,
    pub(crate) source: &'static str,
    pub(crate) replaced: &'static [(&'static str, &'static str)],
}

pub(crate) const KERNELS: &[Kernel] = &[
    Kernel {
        name: "refreshed",
        is: "A value that is served while it is refreshed.",
        sources: &["shared/cache/src/refreshed.rs"],
        uses: "use crate::sync::{Clock, Moment};",
        mistakes: &[
            Mistake {
                name: "read_without_the_lock",
                is: "A request that has to wait for a reading starts one.",
                source: "shared/cache/src/refreshed.rs",
                replaced: &[(
                    "let _reading = self.0.reading.lock().await;\n        let now",
                    "let _ = self.0.reading.lock().await;\n        let now",
                )],
            },
            Mistake {
                name: "not_looked_again",
                is: "A request that waited for a reading starts another.",
                source: "shared/cache/src/refreshed.rs",
                replaced: &[(
                    "if let Some(value) = self.0.no_older_than(oldest, now) {",
                    "if let Some(value) = self.0.no_older_than(Duration::ZERO.min(oldest), now) {",
                )],
            },
            Mistake {
                name: "beside_not_looked_again",
                is: "A background reading starts although another has just ended.",
                source: "shared/cache/src/refreshed.rs",
                replaced: &[(
                    "if self.0.no_older_than(self.0.bounds.fresh, now).is_some() ||",
                    "if self.0.no_older_than(Duration::ZERO, now).is_some() ||",
                )],
            },
            Mistake {
                name: "lock_released_early",
                is: "The lock is released before the background reading has ended.",
                source: "shared/cache/src/refreshed.rs",
                replaced: &[
                    (
                        "        let inner = Arc::clone(&self.0);\n",
                        "        let inner = Arc::clone(&self.0);\n        drop(reading);\n",
                    ),
                    ("            drop(reading);\n        });", "        });"),
                ],
            },
            Mistake {
                name: "reading_ends_with_its_caller",
                is: "A caller that gives up ends the reading.",
                source: "shared/cache/src/refreshed.rs",
                replaced: &[("let reading = spawn(async move {", "let reading = Box::pin(async move {")],
            },
        ],
    },
    Kernel {
        name: "breaker",
        is: "A circuit breaker for a part that does not answer.",
        sources: &["shared/breaker/src/watch.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "several_try",
                is: "A call does not check whether another one is trying.",
                source: "shared/breaker/src/watch.rs",
                replaced: &[(
                    "if opened.has_trial || Moment::now(clock).since(opened.since) < WAIT {",
                    "if Moment::now(clock).since(opened.since) < WAIT {",
                )],
            },
            Mistake {
                name: "a_try_that_is_given_up_stays",
                is: "A trying call that is dropped counts as trying for ever.",
                source: "shared/breaker/src/watch.rs",
                replaced: &[("            opened.has_trial = false;\n", "            opened.has_trial = true;\n")],
            },
            Mistake {
                name: "calls_from_before_count",
                is: "A call that began before the breaker opened ends another call's try.",
                source: "shared/breaker/src/watch.rs",
                replaced: &[
                    ("        if !self.is_trial {\n            return;\n        }\n", ""),
                    (
                        "        if self.changes == state.changes\n            && let Some(opened) = &mut state.opened\n        {\n",
                        "        if let Some(opened) = &mut state.opened {\n",
                    ),
                ],
            },
        ],
    },
    Kernel {
        name: "current_link",
        is: "The link to Redis.",
        sources: &["shared/stock/src/current_link.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "stored_not_swapped",
                is: "A call that found a link silent replaces the newer one that is there by now.",
                source: "shared/stock/src/current_link.rs",
                replaced: &[(
                    "self.opened.compare_and_swap(&Some(Arc::clone(old)), Some(Arc::new(fresh)));",
                    "self.opened.store(Some(Arc::new(fresh)));",
                )],
            },
            Mistake {
                name: "not_looked_again",
                is: "A call that waited while another made a link makes one too.",
                source: "shared/stock/src/current_link.rs",
                replaced: &[(
                    "unwrap_or_else(PoisonError::into_inner);\n        if let Some(opened) = known() {",
                    "unwrap_or_else(PoisonError::into_inner);\n        if let Some(opened) = known().filter(|_| false) {",
                )],
            },
            Mistake {
                name: "permit_dropped",
                is: "The permit to renew is given back before the link is renewed.",
                source: "shared/stock/src/current_link.rs",
                replaced: &[("let Ok(_renewing) = self.renewing", "let Ok(_) = self.renewing")],
            },
        ],
    },
    Kernel {
        name: "lanes_seen",
        is: "What a process has seen of a round with several lanes.",
        sources: &["shared/stock/src/lanes_seen.rs"],
        uses: "use stock::{Reserve, SoldOut, StockError};",
        mistakes: &[
            Mistake {
                name: "lock_dropped",
                is: "The lock is released before the search.",
                source: "shared/stock/src/lanes_seen.rs",
                replaced: &[("let _looking = match self.looking", "let _ = match self.looking")],
            },
            Mistake {
                name: "looked_up_then_kept",
                is: "A round is looked up under one lock and kept under another.",
                source: "shared/stock/src/lanes_seen.rs",
                replaced: &[(
                    "        Arc::clone(rounds.entry(round.clone()).or_default())\n",
                    "        drop(rounds);\n        let seen = Arc::<RoundSeen>::default();\n        lock(&self.0).insert(round.clone(), Arc::clone(&seen));\n        seen\n",
                )],
            },
        ],
    },
    Kernel {
        name: "sold_out_mark",
        is: "The mark that a round is sold out.",
        sources: &["shared/process/src/sold_out_mark.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "names_as_of_any_win",
                is: "The buyers' names may be older than the last win.",
                source: "shared/process/src/sold_out_mark.rs",
                replaced: &[(
                    ".filter(|names| names.wins == wins)",
                    ".filter(|names| names.wins == wins || !names.hashes.is_empty())",
                )],
            },
            Mistake {
                name: "reading_not_held",
                is: "The lock is released before the names are read.",
                source: "shared/process/src/sold_out_mark.rs",
                replaced: &[(
                    "            *again_at = Some(Instant::now() + pause.max(SHORTEST_PAUSE));\n",
                    "            let _ = pause;\n",
                )],
            },
        ],
    },
    Kernel {
        name: "turns",
        is: "The turns of an isolated sale.",
        sources: &["shared/process/src/turns.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "lock_dropped",
                is: "The lock is released before Redis is asked.",
                source: "shared/process/src/turns.rs",
                replaced: &[(
                    "let mut leased = self.leased.lock().await;",
                    "let mut kept = *self.leased.lock().await;\n        let leased = &mut kept;",
                )],
            },
            Mistake {
                name: "no_pause",
                is: "A lease that fails or is given up is retried at once.",
                source: "shared/process/src/turns.rs",
                replaced: &[("holds_for: TRY_AGAIN_AFTER });", "holds_for: TRY_AGAIN_AFTER.min(Duration::ZERO) });")],
            },
            Mistake {
                name: "loaded_then_stored",
                is: "A turn is taken in two steps.",
                source: "shared/process/src/turns.rs",
                replaced: &[(
                    "let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));",
                    "let taken = self.left.load(Ordering::Relaxed).checked_sub(1).ok_or(());\n            let taken = taken.map(|left| self.left.store(left, Ordering::Relaxed));",
                )],
            },
        ],
    },
    Kernel {
        name: "answers",
        is: "The counts of answers, and their flush.",
        sources: &["shared/process/src/answer_counts.rs", "shared/process/src/debounce.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "done_before_it_may_be_asked_for",
                is: "A request for a flush that comes during a flush is lost.",
                source: "shared/process/src/debounce.rs",
                replaced: &[(
                    "            asked.store(false, Ordering::Release);\n            work.await;\n",
                    "            work.await;\n            asked.store(false, Ordering::Release);\n",
                )],
            },
            Mistake {
                name: "copied_then_cleared",
                is: "The counts are copied under one lock and cleared under another.",
                source: "shared/process/src/answer_counts.rs",
                replaced: &[(
                    "std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))",
                    "let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();\n        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();\n        counts",
                )],
            },
        ],
    },
    Kernel {
        name: "together",
        is: "Messages that go together.",
        sources: &["shared/queue/src/together.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "not_sent_again",
                is: "Whoever was in a batch of one who gave up takes its message for sent.",
                source: "shared/queue/src/together.rs",
                replaced: &[(
                    "                    Err(_) => continue,\n",
                    "                    Err(_) => return None,\n",
                )],
            },
            Mistake {
                name: "grows",
                is: "A full batch waits like any other.",
                source: "shared/queue/src/together.rs",
                replaced: &[("waiting.entries.len() < MOST {", "waiting.entries.len() < MOST * MOST {")],
            },
            Mistake {
                name: "mixed_up",
                is: "Whoever is in a batch hears what became of another's message.",
                source: "shared/queue/src/together.rs",
                replaced: &[("answers.into_iter().zip(results)", "answers.into_iter().rev().zip(results)")],
            },
        ],
    },
    Kernel {
        name: "demand",
        is: "The count of requests for a sale.",
        sources: &["shared/process/src/demand.rs"],
        uses: "",
        mistakes: &[Mistake {
            name: "loaded_then_stored",
            is: "The count is taken in two steps.",
            source: "shared/process/src/demand.rs",
            replaced: &[(
                "self.0.swap(0, Ordering::Relaxed)",
                "let counted = self.0.load(Ordering::Relaxed);\n        self.0.store(0, Ordering::Relaxed);\n        counted",
            )],
        }],
    },
    Kernel {
        name: "kept",
        is: "A value that the request which needs it reads again.",
        sources: &["shared/process/src/kept.rs"],
        uses: "",
        mistakes: &[Mistake {
            name: "counted_from_the_end",
            is: "Its age counts from the end of its reading.",
            source: "shared/process/src/kept.rs",
            replaced: &[("Some((now, value.clone()));", "Some((Moment::now(clock), value.clone()));")],
        }],
    },
    Kernel {
        name: "kept_each",
        is: "Values that the requests which need them read again.",
        sources: &["shared/process/src/kept_each.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "counted_from_the_end",
                is: "The age of a value counts from the end of its read.",
                source: "shared/process/src/kept_each.rs",
                replaced: &[(
                    "began: Moment, value: V) {\n",
                    "_: Moment, value: V) {\n        let began = self.now();\n",
                )],
            },
            Mistake {
                name: "counted_by_the_cache",
                is: "The age of a value counts only by the cache's clock.",
                source: "shared/process/src/kept_each.rs",
                replaced: &[(
                    "now.since(kept.began) < self.age",
                    "now.since(kept.began) < self.age.max(Duration::MAX)",
                )],
            },
            Mistake {
                name: "the_last_one_is_kept",
                is: "A read that ends late replaces the result of one that began after it.",
                source: "shared/process/src/kept_each.rs",
                replaced: &[("usable.filter(|kept| !kept.began.since(began).is_zero())", "usable.filter(|_| false)")],
            },
            Mistake {
                name: "an_old_one_is_kept",
                is: "A value from when the wall clock was ahead is kept in place of new ones.",
                source: "shared/process/src/kept_each.rs",
                replaced: &[(
                    "let usable = kept.filter(|kept| self.is_usable(kept, now));",
                    "let usable = kept.filter(|kept| now.since(kept.began) <= Duration::MAX);",
                )],
            },
        ],
    },
    Kernel {
        name: "watched",
        is: "The rounds that operators watch.",
        sources: &["shared/process/src/watched.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "looked_up_then_kept",
                is: "A round is looked up in one step and kept in another.",
                source: "shared/process/src/watched.rs",
                replaced: &[(
                    "let known = self.rounds.get_with_by_ref(round, Arc::default);",
                    "let known = self.rounds.get(round).unwrap_or_default();\n        self.rounds.insert(round.clone(), Arc::clone(&known));",
                )],
            },
            Mistake {
                name: "not_looked_again",
                is: "A caller decides to read before it waits for another's read.",
                source: "shared/process/src/watched.rs",
                replaced: &[
                    (
                        "let mut known = known.lock().await;\n",
                        "let rest = known.lock().await.rest;\n        let start = Moment::now(self.clock);\n        let is_due = rest.is_none_or(|(since, pause)| start.since(since) >= pause);\n        let mut known = known.lock().await;\n",
                    ),
                    ("if rest.is_none_or(|(since, pause)| start.since(since) >= pause) {", "if is_due {"),
                ],
            },
            Mistake {
                name: "no_rest_when_given_up",
                is: "A read that is given up is made again at once.",
                source: "shared/process/src/watched.rs",
                replaced: &[("*rest = Some((start, READ_TIMEOUT * (1 + REST)));", "")],
            },
            Mistake {
                name: "counted_while_it_runs",
                is: "The rest lasts until the process has run for so long.",
                source: "shared/process/src/watched.rs",
                replaced: &[
                    (
                        "let start = Moment::now(self.clock);\n",
                        "let clock = sale::EpochMs(self.clock.now().0.min(0));\n        let start = Moment::of(super::sync::Instant::now(), clock);\n",
                    ),
                    (
                        "let end = Moment::now(self.clock);\n",
                        "let end = Moment::of(super::sync::Instant::now(), clock);\n",
                    ),
                ],
            },
            Mistake {
                name: "taken_out_while_it_is_read",
                is: "What a round's reads remember is lost when one is cut off.",
                source: "shared/process/src/watched.rs",
                replaced: &[(
                    "let read = timeout(self.clock.limit(READ_TIMEOUT), read(remembered)).await;\n",
                    "let mut taken = std::mem::take(remembered);\n            let read = timeout(self.clock.limit(READ_TIMEOUT), read(&mut taken)).await;\n            *remembered = taken;\n",
                )],
            },
        ],
    },
    Kernel {
        name: "forgeries",
        is: "The users who send forged passes.",
        sources: &["shared/process/src/forgeries.rs"],
        uses: "",
        mistakes: &[Mistake {
            name: "looked_up_then_kept",
            is: "An entry is changed in two steps.",
            source: "shared/process/src/forgeries.rs",
            replaced: &[
                (
                    "        self.0.entry_by_ref(user).and_upsert_with(|told| {\n            let mut told = told.map_or(nothing, moka::Entry::into_value);\n",
                    "        let mut change = |told: Option<Told>| {\n            let mut told = told.unwrap_or(nothing);\n",
                ),
                (
                    "            told.strikes += u32::from(is_told);\n            told\n        });\n",
                    "            told.strikes += u32::from(is_told);\n            told\n        };\n        let changed = change(self.0.get(user));\n        self.0.insert(user.clone(), changed);\n",
                ),
            ],
        }],
    },
    Kernel {
        name: "limiter",
        is: "The rate limits of users and addresses.",
        sources: &["shared/gate/src/bounded.rs"],
        uses: "",
        mistakes: &[Mistake {
            name: "looked_up_then_kept",
            is: "The state of a key is read under one lock and kept under another.",
            source: "shared/gate/src/bounded.rs",
            replaced: &[(
                "        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);\n        let (outcome, state) = f(states.get(key).copied())?;\n",
                "        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied();\n        let (outcome, state) = f(known)?;\n        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);\n",
            )],
        }],
    },
    Kernel {
        name: "waking_clock",
        is: "The rate limiter's clock.",
        sources: &["shared/gate/src/waking_clock.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "loaded_then_stored",
                is: "The time of freezes is kept in two steps.",
                source: "shared/gate/src/waking_clock.rs",
                replaced: &[(
                    "let frozen = self.frozen.fetch_max(frozen, Ordering::Relaxed).max(frozen);",
                    "let frozen = self.frozen.load(Ordering::Relaxed).max(frozen);\n        self.frozen.store(frozen, Ordering::Relaxed);",
                )],
            },
            Mistake {
                name: "the_latest_is_shown",
                is: "The latest time by either clock is shown.",
                source: "shared/gate/src/waking_clock.rs",
                replaced: &[(
                    "let ran = nanos(now.running_since(self.began));",
                    "let ran = nanos(now.running_since(now));",
                )],
            },
        ],
    },
    Kernel {
        name: "sweeps",
        is: "The searches of a full map of rates.",
        sources: &["shared/gate/src/sweeps.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "loaded_then_stored",
                is: "The time is taken in two steps.",
                source: "shared/gate/src/sweeps.rs",
                replaced: &[
                    ("        now_ns.saturating_sub", "        let is_due = now_ns.saturating_sub"),
                    (
                        "            && self.0.compare_exchange(swept_at_ns, now_ns, Ordering::Relaxed, Ordering::Relaxed).is_ok()\n",
                        ";\n        if is_due {\n            self.0.store(now_ns, Ordering::Relaxed);\n        }\n        is_due\n",
                    ),
                ],
            },
            Mistake {
                name: "an_earlier_time_is_long_after",
                is: "A request that read the clock before the last search takes that for long ago.",
                source: "shared/gate/src/sweeps.rs",
                replaced: &[("now_ns.saturating_sub(", "now_ns.wrapping_sub(")],
            },
        ],
    },
    Kernel {
        name: "made",
        is: "The dependencies of a process.",
        sources: &["shared/context/src/made.rs"],
        uses: "",
        mistakes: &[Mistake {
            name: "the_last_one_is_kept",
            is: "Of two made at the same time, the second replaces the first.",
            source: "shared/context/src/made.rs",
            replaced: &[(
                "Ok(Arc::clone(made().entry(key).or_insert(new)))",
                "made().insert(key, Arc::clone(&new));\n        Ok(new)",
            )],
        }],
    },
    Kernel {
        name: "sample_times",
        is: "Spans of time, each with one reported value.",
        sources: &["shared/runtime/src/sample_times.rs"],
        uses: "",
        mistakes: &[Mistake {
            name: "loaded_then_stored",
            is: "A span is taken in two steps.",
            source: "shared/runtime/src/sample_times.rs",
            replaced: &[(
                "now >= next && self.next.compare_exchange(next, now + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()",
                "if now >= next {\n            self.next.store(now + 1, Ordering::Relaxed);\n        }\n        now >= next",
            )],
        }],
    },
    Kernel {
        name: "counts",
        is: "What counts before metrics are published.",
        sources: &["shared/runtime/src/counts.rs"],
        uses: "",
        mistakes: &[Mistake {
            name: "taken_out_while_called",
            is: "The callbacks are taken out while they are called.",
            source: "shared/runtime/src/counts.rs",
            replaced: &[(
                "        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|count| count());\n",
                "        let counts = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));\n        counts.iter().for_each(|count| count());\n        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(counts);\n",
            )],
        }],
    },
    Kernel {
        name: "throttle",
        is: "Work that is done at intervals.",
        sources: &["shared/runtime/src/throttle.rs"],
        uses: "",
        mistakes: &[Mistake {
            name: "lock_released_early",
            is: "The lock is released before the work is done and noted.",
            source: "shared/runtime/src/throttle.rs",
            replaced: &[
                (
                    "            *last = Some(Instant::now());\n            work();\n",
                    "            drop(last);\n            work();\n            *self.last.lock().unwrap() = Some(Instant::now());\n",
                ),
                ("let mut last", "let last"),
            ],
        }],
    },
    Kernel {
        name: "answer_metrics",
        is: "The counts of answers by code.",
        sources: &["shared/api/src/answer_metrics.rs"],
        uses: "use api::Code;",
        mistakes: &[Mistake {
            name: "loaded_then_stored",
            is: "A count is taken in two steps.",
            source: "shared/api/src/answer_metrics.rs",
            replaced: &[(
                "let count = counted.swap(0, Ordering::Relaxed);",
                "let count = counted.load(Ordering::Relaxed);\n            counted.store(0, Ordering::Relaxed);",
            )],
        }],
    },
    Kernel {
        name: "pacer",
        is: "The pace at which winners are notified.",
        sources: &["functions/winners/src/pacer.rs"],
        uses: "",
        mistakes: &[Mistake {
            name: "looked_up_then_kept",
            is: "The next moment is read under one lock and kept under another.",
            source: "functions/winners/src/pacer.rs",
            replaced: &[
                (
                    "let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);",
                    "let next = *self.next.lock().unwrap_or_else(PoisonError::into_inner);",
                ),
                (
                    "*next = Some(at + self.every);",
                    "*self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(at + self.every);",
                ),
            ],
        }],
    },
    Kernel {
        name: "missed",
        is: "The users whom Redis missed.",
        sources: &["functions/waiting_room/src/missed.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "not_noted_again",
                is: "A user is lost when the request that was to report them is dropped.",
                source: "functions/waiting_room/src/missed.rs",
                replaced: &[(
                    "            self.missed.note(self.round, self.user);\n",
                    "            let _ = (self.missed, self.round, self.user);\n",
                )],
            },
            Mistake {
                name: "looked_up_then_taken",
                is: "A user is read under one lock and taken under another.",
                source: "functions/waiting_room/src/missed.rs",
                replaced: &[(
                    "        let user = users.pop();\n",
                    "        let user = users.last().cloned();\n        drop(missed);\n        let mut missed = self.0.lock().unwrap_or_else(PoisonError::into_inner);\n        let users = missed.get_mut(round)?;\n        users.pop();\n",
                )],
            },
        ],
    },
    Kernel {
        name: "looks",
        is: "The lines that a process looks at.",
        sources: &["functions/waiting_room/src/looks.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "looked_up_then_kept",
                is: "A line is looked up in one step and kept in another.",
                source: "functions/waiting_room/src/looks.rs",
                replaced: &[(
                    "let line = self.0.get_with_by_ref(round, Arc::default);",
                    "let line = self.0.get(round).unwrap_or_default();\n        self.0.insert(round.clone(), Arc::clone(&line));",
                )],
            },
            Mistake {
                name: "lock_released_early",
                is: "The lock is released before the result is kept.",
                source: "functions/waiting_room/src/looks.rs",
                replaced: &[
                    (
                        "        let result = look(&mut line.remembered).await;\n",
                        "        let mut remembered = std::mem::take(&mut line.remembered);\n        drop(line);\n        let result = look(&mut remembered).await;\n        let mut line = kept.lock().await;\n        line.remembered = remembered;\n",
                    ),
                    (
                        "let mut line = line.lock().await;",
                        "let kept = line;\n        let mut line = kept.lock().await;",
                    ),
                ],
            },
            Mistake {
                name: "taken_out_during_a_look",
                is: "What a line's looks remember is lost when one is cut off.",
                source: "functions/waiting_room/src/looks.rs",
                replaced: &[(
                    "let result = look(&mut line.remembered).await;",
                    "let mut taken = std::mem::take(&mut line.remembered);\n        let result = look(&mut taken).await;\n        line.remembered = taken;",
                )],
            },
            Mistake {
                name: "a_look_may_be_old",
                is: "The result of a look is shown, however long ago the look began.",
                source: "functions/waiting_room/src/looks.rs",
                replaced: &[(
                    "(at.since(began) <= LONGEST_LOOK)",
                    "(at.since(began) <= LONGEST_LOOK.max(Duration::MAX))",
                )],
            },
        ],
    },
    Kernel {
        name: "briefly",
        is: "What is read from Redis and the ledger for all, and shown for a short time.",
        sources: &["functions/catalog/src/briefly.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "each_reads",
                is: "A caller looks up the value in one step and keeps its own in another.",
                source: "functions/catalog/src/briefly.rs",
                replaced: &[(
                    "match self.read.try_get_with_by_ref(key, read).await {\n                Ok(Read { value, at }) => (Ok(value), at),",
                    "match read.await {\n                Ok(Read { value, at }) => {\n                    self.read.insert(key.clone(), Read { value: value.clone(), at }).await;\n                    (Ok(value), at)\n                }",
                )],
            },
            Mistake {
                name: "a_joined_read_may_be_old",
                is: "A caller shows what another one read, whenever that began.",
                source: "functions/catalog/src/briefly.rs",
                replaced: &[(
                    "if now.since(at) <= LONGEST_READ {",
                    "if now.since(at) <= LONGEST_READ.max(Duration::MAX) {",
                )],
            },
            Mistake {
                name: "removed_although_read_again",
                is: "A caller that found an old value removes the new one that is there by now.",
                source: "functions/catalog/src/briefly.rs",
                replaced: &[(
                    "kept.is_some_and(|kept| !holds(kept.value().at, now));",
                    "kept.is_some_and(|kept| now.since(kept.value().at) <= Duration::MAX);",
                )],
            },
            Mistake {
                name: "counted_from_the_end",
                is: "The age of a value counts from the end of its read.",
                source: "functions/catalog/src/briefly.rs",
                replaced: &[(
                    "read().await.map(|value| Read { value, at: now })",
                    "read().await.map(|value| Read { value, at: Moment::now(self.clock) })",
                )],
            },
            Mistake {
                name: "a_failure_may_be_old",
                is: "A caller gets another one's failure, whenever that read began.",
                source: "functions/catalog/src/briefly.rs",
                replaced: &[(
                    "(Err(Arc::clone(&failed.error)), failed.at)",
                    "{\n                    let _ = failed.at;\n                    (Err(Arc::clone(&failed.error)), now)\n                }",
                )],
            },
        ],
    },
    Kernel {
        name: "look_ups",
        is: "The draws that are being looked up.",
        sources: &["functions/catalog/src/look_ups.rs"],
        uses: "",
        mistakes: &[
            Mistake {
                name: "room_left_at_once",
                is: "The permit is given back before the look-up.",
                source: "functions/catalog/src/look_ups.rs",
                replaced: &[("let _room = self.0.acquire()", "let _ = self.0.acquire()")],
            },
            Mistake {
                name: "room_kept_when_dropped",
                is: "The permit is only given back at the end of a look-up.",
                source: "functions/catalog/src/look_ups.rs",
                replaced: &[
                    (
                        "let _room = self.0.acquire().await.expect(\"nobody closes it\");",
                        "self.0.acquire().await.expect(\"nobody closes it\").forget();",
                    ),
                    (
                        "        look_up.await\n",
                        "        let found = look_up.await;\n        self.0.add_permits(1);\n        found\n",
                    ),
                ],
            },
        ],
    },
    Kernel {
        name: "delivered",
        is: "Which connections were told of which change.",
        sources: &["functions/notifier/src/delivered.rs"],
        uses: "",
        mistakes: &[Mistake {
            name: "looked_up_then_kept",
            is: "An entry is changed in two steps.",
            source: "functions/notifier/src/delivered.rs",
            replaced: &[(
                "        self.0.entry_by_ref(record).and_upsert_with(|told| {\n            let mut told = told.map(moka::Entry::into_value).unwrap_or_default();\n            Arc::make_mut(&mut told).insert(connection.to_owned());\n            told\n        });\n",
                "        let mut told = self.0.get(record).unwrap_or_default();\n        Arc::make_mut(&mut told).insert(connection.to_owned());\n        self.0.insert(record.to_owned(), told);\n",
            )],
        }],
    },
];
