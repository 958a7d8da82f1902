"""Starts the AWS emulator, and spares it what took most of its time."""

import functools
import gc
import itertools
import json
import threading
import time
from email.utils import formatdate

import ministack.app
import uvicorn
from ministack.core.responses import set_request_account_id, set_request_region
from ministack.core.router import extract_access_key_id, extract_region
from ministack.services import dynamodb, lambda_svc, sqs

# Python looks for garbage after every 700 new objects. The emulator makes hardly any garbage in cycles, but keeps all
# that it stores, so looking took a tenth of its time.
gc.set_threshold(50_000, 50, 100)

# A query parses its condition again for each item that it looks at.
for parse in dynamodb._tokenize, dynamodb._condition_syntax_error:
    setattr(dynamodb, parse.__name__, functools.lru_cache(parse))

# Nearly all requests are for these two. They skip the questions that tell a hundred other services apart, and headers
# that no SDK reads.
BUSY = {"DynamoDB_20120810": dynamodb, "AmazonSQS": sqs}
answer, numbers = ministack.app.app, itertools.count(1)


@functools.lru_cache(maxsize=1)
def date_of(second):
    return formatdate(second, usegmt=True).encode()


class Joined:
    """Sends the head of a response together with its body: each write wakes the client."""

    def __init__(self, transport):
        self.transport, self.parts = transport, []

    def write(self, part):
        self.parts.append(part)
        if len(self.parts) == 2:
            self.transport.write(b"".join(self.parts))

    def __getattr__(self, name):
        return getattr(self.transport, name)


async def answer_the_busy(scope, receive, send):
    asked = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope.get("headers", ())}
    service = BUSY.get(asked.get("x-amz-target", "").partition(".")[0])
    # The SDK compresses nothing that it sends to these.
    if service is None or "content-encoding" in asked:
        return await answer(scope, receive, send)
    parts, more = [], True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    set_request_account_id(extract_access_key_id(asked))
    set_request_region(extract_region(asked))
    try:
        status, headers, body = await service.handle_request("POST", scope["path"], asked, b"".join(parts), {})
    except Exception as error:
        ministack.app.logger.exception("a request to %s", service.__name__)
        status, headers, body = 500, {}, json.dumps({"__type": "InternalError", "message": str(error)})
    body = body if isinstance(body, bytes) else body.encode()
    headers |= {"content-length": len(body), "x-amzn-requestid": next(numbers)}
    listed = [(name.lower().encode(), str(value).encode()) for name, value in headers.items()]
    listed.append((b"date", date_of(int(time.time()))))
    # No middleware wraps `send`, so it is a bound method of the object that holds the connection.
    response = send.__self__
    response.transport = Joined(response.transport)
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})


ministack.app.app = answer_the_busy

# Every receive visits all messages of its queue twice: to complete their fields, and to drop those that are too old.
# The last field tells a complete one. The first message is the oldest, but for dead letters, which may stay a bit longer.
complete, drop_old = sqs._ensure_msg_fields, sqs._expire_retained


def complete_once(message):
    if "seq" not in message:
        complete(message)


def drop_old_if_any(queue):
    oldest = {**queue, "messages": queue["messages"][:1]}
    drop_old(oldest)
    if not oldest["messages"]:
        drop_old(queue)


sqs._ensure_msg_fields, sqs._expire_retained = complete_once, drop_old_if_any

# One thread polls all sources, and waits for a stream's function before it looks at the queues again. Streams get a thread
# of their own.
poll_streams, polling, missed = lambda_svc._poll_dynamodb_streams, threading.Lock(), threading.Event()


def poll_streams_beside():
    # Before it tries: whoever is polling then hears of it, or is done and lets it try.
    missed.set()
    if not polling.acquire(blocking=False):
        return False
    missed.clear()

    def poll():
        processed = False
        try:
            processed = poll_streams()
        finally:
            polling.release()
            if processed or missed.is_set():
                lambda_svc._esm_wake.set()

    try:
        threading.Thread(target=poll, daemon=True).start()
    except RuntimeError:
        polling.release()
        raise
    return False


lambda_svc._poll_dynamodb_streams = poll_streams_beside

# On AWS, functions that take messages from a queue cost those who send some nothing. Here they share the cores, so in a
# rush they wait until a core is free, a few seconds at most.
RUSH_MESSAGES = 30
LONGEST_WAIT_S = 3
LOOK_AGAIN_S = 0.05
receive = sqs._receive_messages_for_esm


class Cores:
    def __init__(self):
        self.seen_at, self.ticks, self.busy = 0, [], None

    def are_busy(self):
        """Whether they are busy with what does not give way to others. None if that is not known yet."""
        age = time.monotonic() - self.seen_at
        if age >= LOOK_AGAIN_S:
            with open("/proc/stat") as stat:
                ticks = [int(ticks) for ticks in stat.readline().split()[1:6]]
            _user, nice, _system, idle, iowait = spent = [now - then for now, then in zip(ticks, self.ticks or ticks)]
            # What was seen long ago says nothing of this moment.
            self.busy = nice + idle + iowait < sum(spent) / 4 if age < 4 * LOOK_AGAIN_S else None
            self.seen_at, self.ticks = time.monotonic(), ticks
        return self.busy


cores = Cores()


def receive_after_the_rush(url, most):
    now, messages = time.time(), sqs._queues[url]["messages"]
    waiting = next((message for message in messages if message["visible_at"] <= now), None)
    if waiting and now - waiting["sent_at"] < LONGEST_WAIT_S:
        busy = cores.are_busy()
        # The first messages of a rush are few: without a second look, ten processes would start for them.
        if busy is None or (busy and len(messages) >= RUSH_MESSAGES):
            threading.Timer(LOOK_AGAIN_S, lambda_svc._esm_wake.set).start()
            return []
    return receive(url, most)


sqs._receive_messages_for_esm = receive_after_the_rush

uvicorn.main()
