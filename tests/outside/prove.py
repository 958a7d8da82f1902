#!/usr/bin/env python3
"""Checks three promises on a running `make up` from outside: over HTTP, with one FLUSHALL sent to Redis.

    make up
    tests/outside/prove.py

1. A stop or a user's block holds for every request once it is a few seconds old, even after a quiet time. Starting and
   allowing again take effect within seconds.
2. A right answer sent ten times gets the same pass ten times. Neither that, nor a second tab, nor a late answer counts
   against the user.
3. A published sale that Redis has lost gets 503 until it is back, never 404.

Prints a line for each check and exits with 1 if one fails. It takes about five minutes, mostly real waits: for idle
processes, for a challenge to end, for the schedule to run. It leaves its sales behind and restarts what it stopped.
"""

import hashlib
import json
import socket
import sys
import time
import urllib.error
import urllib.request
import uuid
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import quote, urlsplit

STATE = Path(__file__).resolve().parents[2] / "target/local/up.json"
# Makes names unique to this run.
RUN = uuid.uuid4().hex[:8]

BUYERS = 10
# Reservations per buyer: 40 at once in total.
EACH = 4
# Longer than a process may keep what it has read about sales.
QUIET_S = 20
BLOCKED_FOR_S = 15
# "Within seconds", on a busy machine.
SOON_S = 10
# A challenge holds for two minutes.
CHALLENGE_S = 125
# The schedules run every minute; then a lost sale is loaded from the ledger.
RESTORED_WITHIN_S = 180
# As `Retry-After` says. Asking more often gets 429 after a while.
TRY_AGAIN_S = 2
ANSWER_ROUNDS = 10
COPIES = 10

failures = 0


def check(passed, claim, seen):
    """Prints one verdict."""
    global failures
    failures += not passed
    print(f"{'ok    ' if passed else 'FAILED'}  {claim}: {seen}", flush=True)


def request(method, url, body=None, token=None, headers=()):
    """Sends a request and returns the answer's status and document."""
    headers = {"content-type": "application/json", **dict(headers)}
    if token:
        headers["authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        status, text = refused.code, refused.read()
    try:
        document = json.loads(text or b"{}")
    except ValueError:
        document = {}
    return status, document if isinstance(document, dict) else {}


def must(answer, *expected):
    """The document of an answer that must have an expected status."""
    status, document = answer
    if status not in expected:
        raise SystemExit(f"cannot go on: {status} {document}")
    return document


def at_once(calls):
    """Sends requests at the same time and returns the answers."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(*call) for call in calls]]


def tally(answers):
    """Counts answers by status and code: `{'202': 7, '503 paused': 33}`."""
    counts = {}
    for status, document in answers:
        name = " ".join([str(status), *filter(None, [document.get("code")])])
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def work(challenge_id):
    """The proof of work for a challenge: SHA-256 of `ID:ANSWER` begins with 20 zero bits."""
    begun = hashlib.sha256(f"{uuid.UUID(challenge_id).hex}:".encode())
    answer = 0
    while True:
        tried = begun.copy()
        tried.update(str(answer).encode())
        if int.from_bytes(tried.digest()[:4], "big") < 1 << 12:
            return str(answer)
        answer += 1


class Shop:
    def __init__(self):
        try:
            running = json.loads(STATE.read_text())
        except FileNotFoundError:
            raise SystemExit("nothing is running; start it with `make up`") from None
        deployment = running["deployment"]
        self.page, self.api = f"http://127.0.0.1:{running['ports']['web']}", deployment["api_url"]
        self.aws, self.redis = deployment["endpoint"], urlsplit(deployment["redis_url"])
        self.warmup = deployment["warmup_function"]
        self.tokens = {}
        self.operator = self.sign_in("operator", True)
        self.workers = ProcessPoolExecutor()

    def sign_in(self, user, operator=False):
        if user not in self.tokens:
            login = {"user": user, "operator": operator}
            self.tokens[user] = must(request("POST", f"{self.page}/stand-in/login", login), 200)["token"]
        return self.tokens[user]

    def operate(self, method, path, body=None):
        return request(method, f"{self.api}/v1/admin/{path}", body, self.operator)

    def open(self, name, total, limit, **door):
        """Publishes an open sale and loads it."""
        sale, now = f"{name}-{RUN}", datetime.now(timezone.utc)
        terms = {
            "sale_id": sale,
            "title": "Enamel pendant lamp",
            "opens_at": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "closes_at": (now + timedelta(hours=1)).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "total": total,
            "per_user_limit": limit,
            "price_minor": 990,
            "currency": "EUR",
            "payment_window_s": 3600,
        }
        must(self.operate("POST", "sales", terms | ({"door": door} if door else {})), 201)
        must(self.operate("POST", f"sales/{sale}/publish"), 200)
        # As the schedule does every minute.
        must(request("POST", f"{self.aws}/2015-03-31/functions/{self.warmup}/invocations", {}), 200)
        return sale

    def challenge(self, user, sale):
        """A challenge, as soon as the sale is known everywhere."""
        deadline = time.monotonic() + 30
        while True:
            token = self.sign_in(user)
            answer = request("POST", f"{self.api}/v1/sales/{sale}/challenges", {"kind": "work"}, token)
            if answer[0] not in (404, 503) or time.monotonic() > deadline:
                return answer
            time.sleep(0.2)

    def answer(self, user, sale, challenge_id, answer):
        given = {"challenge_id": challenge_id, "answer": answer}
        return request("POST", f"{self.api}/v1/sales/{sale}/tokens", given, self.sign_in(user))

    def passes(self, users, sale):
        """A pass for each user."""
        ids = [must(self.challenge(user, sale), 201)["challenge_id"] for user in users]
        solved = zip(users, ids, self.workers.map(work, ids))
        return {user: must(self.answer(user, sale, *given), 201)["token"] for user, *given in solved}

    def reserve(self, user, sale, token, key):
        url = f"{self.api}/v1/sales/{sale}/reservations/{token}"
        return request("POST", url, None, self.sign_in(user), {"idempotency-key": key})

    def until_reserved(self, calls, within_s):
        """Repeats requests until each gets a unit. Returns all answers and the time it took."""
        begun, answers = time.monotonic(), []
        while calls:
            heard = at_once(calls)
            answers += heard
            calls = [call for call, (status, _) in zip(calls, heard) if status != 202]
            if time.monotonic() - begun > within_s:
                break
            if calls:
                time.sleep(TRY_AGAIN_S)
        return answers, time.monotonic() - begun

    def flush(self):
        """The third check's fault: Redis forgets everything."""
        with socket.create_connection((self.redis.hostname, self.redis.port), 10) as redis:
            redis.sendall(b"FLUSHALL\r\n")
            assert redis.recv(64) == b"+OK\r\n"

    def is_blocked(self, user):
        blocked = must(self.operate("GET", "blocked"), 200)["blocked"]
        return any(block["user"] == user for block in blocked)


def stops_hold(shop):
    users = [f"buyer-{n}-{RUN}" for n in range(BUYERS)]
    sale = shop.open("stop", BUYERS * EACH * 4, 20)
    passes = shop.passes(users, sale)

    def burst(name):
        return [(shop.reserve, user, sale, passes[user], f"{name}-{n}") for user in users for n in range(EACH)]

    # After this burst many processes know the sale and that nothing is stopped.
    answers, took = shop.until_reserved(burst("before"), 30)
    won = tally(answers).get("202", 0)
    check(won == BUYERS * EACH, "before a stop, all requests get a unit", f"{tally(answers)} in {took:.1f} s")

    must(shop.operate("POST", "stop", {}), 200)
    try:
        time.sleep(QUIET_S)
        answers = at_once(burst("stopped"))
        claim = f"everything stopped, then {QUIET_S} s of quiet: none of {len(answers)} at once gets a unit"
        check(tally(answers) == {"503 paused": len(answers)}, claim, tally(answers))
    finally:
        must(shop.operate("POST", "start", {}), 200)
    answers, took = shop.until_reserved(burst("started"), SOON_S)
    won = tally(answers).get("202", 0)
    check(won == BUYERS * EACH, f"started again: all get a unit within {SOON_S} s", f"{tally(answers)} in {took:.1f} s")

    user = users[0]
    mine = [(shop.reserve, user, sale, passes[user], f"blocked-{n}") for n in range(10)]
    until = (datetime.now(timezone.utc) + timedelta(hours=1)).isoformat(timespec="seconds").replace("+00:00", "Z")
    must(shop.operate("POST", "blocked", {"user": user, "until": until}), 200, 201)
    try:
        time.sleep(BLOCKED_FOR_S)
        answers = at_once(mine)
        claim = f"blocked {BLOCKED_FOR_S} s ago: none of {len(answers)} at once gets a unit"
        check(tally(answers) == {"403 blocked": len(answers)}, claim, tally(answers))
    finally:
        must(shop.operate("DELETE", f"blocked/{quote(user, safe='')}"), 200)
    answers, took = shop.until_reserved(mine[:1], SOON_S)
    check(tally(answers).get("202") == 1, f"allowed again: reserves within {SOON_S} s", f"{tally(answers)} in {took:.1f} s")


class Answers:
    """In this sale a single violation blocks a user."""

    def __init__(self, shop):
        self.shop = shop
        self.sale = shop.open("answer", 100, 1, violations=1)
        self.late = f"late-{RUN}"
        self.challenge = must(shop.challenge(self.late, self.sale), 201)["challenge_id"]
        self.asked_at = time.monotonic()
        self.solved = shop.workers.submit(work, self.challenge)

    def honest_people_are_not_punished(self):
        shop, sale = self.shop, self.sale
        liar = f"liar-{RUN}"
        challenge = must(shop.challenge(liar, sale), 201)["challenge_id"]
        answer = shop.answer(liar, sale, challenge, "wrong")
        deadline = time.monotonic() + SOON_S
        while not shop.is_blocked(liar) and time.monotonic() < deadline:
            time.sleep(0.2)
        claim = "a wrong answer is a violation, and one violation blocks, so any violation below would show"
        check(tally([answer]) == {"403 wrong_answer": 1} and shop.is_blocked(liar), claim, tally([answer]))

        users = [f"repeater-{n}-{RUN}" for n in range(ANSWER_ROUNDS)]
        ids = [must(shop.challenge(user, sale), 201)["challenge_id"] for user in users]
        counts, passes = {}, []
        for user, challenge, solved in zip(users, ids, shop.workers.map(work, ids)):
            answers = at_once([(shop.answer, user, sale, challenge, solved)] * COPIES)
            for name, count in tally(answers).items():
                counts[name] = counts.get(name, 0) + count
            passes.append(len({document.get("token") for _, document in answers}))
        claim = f"one right answer {COPIES} times at once, {ANSWER_ROUNDS} rounds: every answer has the pass"
        check(counts == {"201": ANSWER_ROUNDS * COPIES}, claim, counts)
        check(passes == [1] * ANSWER_ROUNDS, "and each round's pass is the same", f"{passes} different ones in each round")
        self.no_violation("a repeated answer", users)

        user = f"tabs-{RUN}"
        ids = [must(shop.challenge(user, sale), 201)["challenge_id"] for _ in range(2)]
        answers = [shop.answer(user, sale, *given) for given in zip(ids, shop.workers.map(work, ids))]
        check(tally(answers) == {"201": 2}, "two tabs, each with a challenge: each gets a pass", tally(answers))
        self.no_violation("a second tab", [user])

    def a_late_answer_is_no_violation(self):
        time.sleep(max(0, self.asked_at + CHALLENGE_S - time.monotonic()))
        status, document = self.shop.answer(self.late, self.sale, self.challenge, self.solved.result())
        over = status in (409, 410) and document.get("code") != "wrong_answer"
        check(over, "a late answer is told that the challenge is over", tally([(status, document)]))
        self.no_violation("a late answer", [self.late])

    def no_violation(self, what, users):
        blocked = [user for user in users if self.shop.is_blocked(user)]
        again = tally([self.shop.challenge(user, self.sale) for user in users])
        claim = f"{what} is no violation: each of {len(users)} may ask again"
        check(not blocked and again == {"201": len(users)}, claim, f"{len(blocked)} blocked, then {again}")


def a_lost_sale_is_not_unknown(shop):
    users = [f"loser-{n}-{RUN}" for n in range(4)]
    known = shop.open("known", 100, 20)
    passes = shop.passes(users, known)
    # Many processes read the published sales now, before the next one is published.
    warm = [(shop.reserve, user, known, passes[user], f"warm-{n}") for user in users for n in range(EACH)]
    shop.until_reserved(warm, 30)

    sale = shop.open("lost", 100, 20)
    passes = shop.passes(users, sale)
    shop.flush()
    calls = [(shop.reserve, user, sale, passes[user], f"lost-{n}") for user in users for n in range(2)]
    answers, took = shop.until_reserved(calls, RESTORED_WITHIN_S)
    counts = tally(answers)
    allowed = {name for name in counts if name == "202" or name.startswith("503")}
    check(set(counts) == allowed, "published, loaded and lost by Redis: only 503 and 202", counts)
    check(counts.get("202") == len(calls), f"and 202 for all within {RESTORED_WITHIN_S} s", f"{took:.0f} s")


def main():
    shop = Shop()
    answers = Answers(shop)
    stops_hold(shop)
    answers.honest_people_are_not_punished()
    answers.a_late_answer_is_no_violation()
    a_lost_sale_is_not_unknown(shop)
    shop.workers.shutdown()
    print(f"{failures} checks failed" if failures else "all checks passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
