#!/usr/bin/env python3
"""Measures the export of a round on a running `make up` from outside, through the real route and the real tool.

    make up
    tests/outside/export.py            # 10,000 orders, then 100,000
    tests/outside/export.py 5000       # as many as you say

Writes that many orders straight into the emulator's table and lets `local export` write them to a file, as CSV and as JSON
Lines. Checks that each row is a written order and that none is missing or duplicated. Prints the time and the peak memory
(VmHWM) of the tool and the function. Exits with 1 if a check fails. It leaves its sales behind.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/local"
# Makes names unique to this run.
RUN = uuid.uuid4().hex[:8]
FUNCTION = b"AWS_LAMBDA_FUNCTION_NAME=flash-sale-admin\0"
# As in `shared/ledger`.
SHARDS = 16
BATCH = 25
WRITERS = 4
BEGAN_MS = int(time.time() * 1000) - 3_600_000
# How much more memory ten times the rows may take, because allocators round up.
MOST_GROWTH_KB = 8 * 1024
# As the ledger has them, and as they are shown.
STATES = {"PAID": "paid", "EXPIRED": "expired", "CANCELLED": "cancelled", "PENDING": "pending_payment"}


def operate(running, method, path, body=None):
    """Has the admin function answer an operator, who must not be refused."""
    token = subprocess.run([TOOL, "token", "--operator"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(f"{running['ApiUrl']}/v1/admin/{path}", data, headers, method=method)
    urllib.request.urlopen(asked, timeout=60).close()


def publish(running, name):
    """Publishes a sale with one round."""
    sale, now = f"{name}-{RUN}", datetime.now(timezone.utc)
    terms = json.loads((ROOT / "events/admin/create.json").read_text())["body"]
    terms |= {"sale_id": sale, "opens_at": f"{now:%FT%TZ}", "closes_at": f"{now + timedelta(hours=1):%FT%TZ}"}
    operate(running, "POST", "sales", terms)
    operate(running, "POST", f"sales/{sale}/publish")
    return sale


def order(sale, n):
    """An order as `shared/ledger` writes it, plain."""
    id_ = uuid.UUID(int=(0x0198F0B2 << 96) | (7 << 76) | (2 << 62) | (n * 2654435761 % 2**60))
    state, at = list(STATES)[n % len(STATES)], BEGAN_MS + n // 3
    item = {
        "pk": f"ORDER#{sale}.1.{id_.hex}",
        "id": f"{sale}.1.{id_.hex}",
        "orders_of": f"user-{n}",
        "user": f"user-{n}",
        "order_shard": f"{sale}#1#{id_.int % SHARDS}",
        "state": state,
        "lane": 0,
        "unit": n + 1,
        "slot": 1,
        "reserved_at_ms": at - 300,
        "created_at_ms": at,
        "price_minor": 990,
        "currency": "EUR",
        "pay_by_ms": at + 900_000,
    }
    if state != "PENDING":
        item["ended_at_ms"] = at + 60_000
    if state == "PAID":
        item["payment_id"] = f"pay-{n}"
    return item


def write(endpoint, table, items):
    typed = [{name: {"N": str(value)} if isinstance(value, int) else {"S": value} for name, value in item.items()} for item in items]
    requests = [{"PutRequest": {"Item": item}} for item in typed]
    headers = {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": "DynamoDB_20120810.BatchWriteItem",
        "authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none",
    }
    body = json.dumps({"RequestItems": {table: requests}}).encode()
    with urllib.request.urlopen(urllib.request.Request(endpoint, body, headers), timeout=60) as answer:
        left = json.load(answer).get("UnprocessedItems")
    if left:
        raise SystemExit(f"cannot go on: {left}")


def peak_kb(pid):
    """The peak memory of a running process."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def functions():
    """The processes of the admin function."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if FUNCTION in (folder / "environ").read_bytes():
                yield int(folder.name)
        except OSError:
            pass


def export(sale, form, out):
    """Returns the seconds, and the peaks of the tool and the function."""
    for pid in functions():
        # Resets the peak (Documentation/filesystems/proc.rst).
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    begun, peak = time.monotonic(), 0
    tool = subprocess.Popen([TOOL, "export", "--sale", sale, "--format", form, "--out", out])
    while tool.poll() is None:
        peak = max(peak, peak_kb(tool.pid))
        time.sleep(0.01)
    if tool.returncode != 0:
        raise SystemExit("cannot go on: the tool failed")
    return time.monotonic() - begun, peak, max(map(peak_kb, functions()), default=0)


def rows_of(form, file):
    with open(file, newline="", encoding="utf-8-sig") as text:
        yield from csv.DictReader(text) if form == "csv" else map(json.loads, text)


def measure(running, count):
    sale = publish(running, f"export-{count}")
    table, endpoint = running["Table"], running["Endpoint"]
    begun = time.monotonic()
    numbers = range(0, count, BATCH)
    with ThreadPoolExecutor(WRITERS) as pool:
        batches = ([order(sale, n) for n in range(first, min(first + BATCH, count))] for first in numbers)
        for _ in pool.map(lambda items: write(endpoint, table, items), batches):
            pass
    print(f"{count} orders written in {time.monotonic() - begun:.1f} s", flush=True)
    failed, peaks = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for form in ["csv", "jsonl"]:
            out = Path(folder) / f"orders.{form}"
            took, tool_kb, function_kb = export(sale, form, out)
            expected = {item["id"]: item for item in (order(sale, n) for n in range(count))}
            wrong = 0
            for row in rows_of(form, out):
                item = expected.pop(row["reservation_id"], None)
                told = item and (item["user"], str(item["unit"]), STATES[item["state"]], item.get("payment_id", ""))
                wrong += told != (row["user"], str(row["unit"]), row["state"], row.get("payment_id", ""))
            failed += bool(wrong or expected)
            size = out.stat().st_size / 1e6
            print(
                f"{count} orders, {form}: {took:.1f} s, {size:.1f} MB, wrong or twice {wrong}, missing {len(expected)}; "
                f"peak of the tool {tool_kb / 1024:.1f} MB, of the function {function_kb / 1024:.1f} MB",
                flush=True,
            )
            peaks[form] = (tool_kb, function_kb)
    return failed, peaks


def main():
    running = json.loads((ROOT / "target/local/up.json").read_text())["deployment"]
    counts = [int(argument) for argument in sys.argv[1:]] or [10_000, 100_000]
    # Starts the function, with the memory that one page takes.
    operate(running, "GET", "orders?user=alice")
    results = [measure(running, count) for count in counts]
    failed = sum(failed for failed, _ in results)
    # One count has nothing to compare it with.
    for form, least in results[0][1].items() if len(results) > 1 else []:
        most = results[-1][1][form]
        grown = [after - before for before, after in zip(least, most)]
        flat = all(growth <= MOST_GROWTH_KB for growth in grown)
        failed += not flat
        print(f"{'ok    ' if flat else 'FAILED'}  memory is flat, {form}: {grown[0]} kB more in the tool, {grown[1]} in the function")
    print(f"{'ok    ' if not failed else 'FAILED'}  run {RUN}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
