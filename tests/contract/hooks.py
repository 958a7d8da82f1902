"""What schemathesis cannot know: tokens, how callbacks are signed, what exists, and how to get a pass."""

import base64
import functools
import hashlib
import hmac
import itertools
import json
import os
import time
from urllib.parse import urlsplit

import requests
import schemathesis

API = os.environ["API_URL"]
SALE = os.environ["SALE_ID"]
OPERATOR = os.environ["OPERATOR_TOKEN"]
# The first one has a pass and a reservation. The others share the remaining requests, because each buyer is rate-limited.
BUYERS = os.environ["BUYER_TOKENS"].split()
# Only these are allowed again: other blocked users are made up, some with names that the emulator's gateway cannot
# route.
BUYER_IDS = {json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))["sub"] for token in BUYERS}
# A pass holds for 300 s.
PASS_USED_FOR_S = 200
# Made-up passes and answers are violations, and `stop` is one of the routes, so operators undo both regularly.
LET_IN_EVERY = 25


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def ask(method: str, path: str, token: str, body: dict | None = None) -> dict:
    response = requests.request(method, API + path, json=body, headers=bearer(token), timeout=30)
    response.raise_for_status()
    return response.json()


@functools.cache
def payment_key() -> bytes:
    # The emulator asks for no signature, but looks for the service in the header.
    response = requests.post(
        os.environ["AWS_ENDPOINT_URL"],
        json={"SecretId": os.environ["PAYMENT_SECRET_ARN"]},
        headers={
            "content-type": "application/x-amz-json-1.1",
            "x-amz-target": "secretsmanager.GetSecretValue",
            "authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/secretsmanager/aws4_request, "
            "SignedHeaders=host, Signature=x",
        },
        timeout=10,
    )
    response.raise_for_status()
    return response.json()["SecretString"].encode()


@functools.cache
def pass_of(_period: int) -> str:
    challenge = ask("POST", f"/v1/sales/{SALE}/challenges", BUYERS[0], {"kind": "work"})
    name, bits = challenge["challenge_id"], challenge["work"]["bits"]
    for answer in itertools.count():
        digest = hashlib.sha256(f"{name}:{answer}".encode()).digest()
        if int.from_bytes(digest, "big") >> (256 - bits) == 0:
            break
    body = {"challenge_id": name, "answer": str(answer)}
    return ask("POST", f"/v1/sales/{SALE}/tokens", BUYERS[0], body)["token"]


def a_pass() -> str:
    return pass_of(int(time.monotonic() / PASS_USED_FOR_S))


@functools.cache
def a_reservation() -> str:
    return ask("POST", f"/v1/sales/{SALE}/reservations/{a_pass()}", BUYERS[0])["reservation_id"]


KNOWN = {"sale_id": lambda: SALE, "token": a_pass, "reservation_id": a_reservation}


class Caller(requests.auth.AuthBase):
    """Adds credentials to each request as it is sent."""

    def __init__(self) -> None:
        self.sent = itertools.count(1)

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        # Keeps the sale itself open.
        for ended in ("close", "withdraw"):
            request.url = request.url.replace(f"/{SALE}/{ended}", f"/another/{ended}")
        path = urlsplit(request.url).path
        turn = next(self.sent)
        if turn % LET_IN_EVERY == 0:
            let_everybody_in()
        if "/v1/payments/" in path:
            self.sign(request)
        elif "/v1/admin/" in path:
            request.headers.update(bearer(OPERATOR))
        else:
            first = any(known in path for known in (a_pass(), a_reservation()))
            request.headers.update(bearer(BUYERS[0 if first else turn % len(BUYERS)]))
        return request

    def sign(self, request: requests.PreparedRequest) -> None:
        body = request.body or b""
        body = body.encode() if isinstance(body, str) else body
        name, now = "msg_1", str(int(time.time()))
        signed = hmac.new(payment_key(), f"{name}.{now}.".encode() + body, hashlib.sha256).digest()
        request.headers["webhook-id"] = name
        request.headers["webhook-timestamp"] = now
        request.headers["webhook-signature"] = "v1," + base64.b64encode(signed).decode()


def let_everybody_in() -> None:
    ask("POST", "/v1/admin/start", OPERATOR, {})
    ask("POST", "/v1/admin/start", OPERATOR, {"sale_id": SALE})
    for blocked in ask("GET", "/v1/admin/blocked", OPERATOR)["blocked"]:
        if blocked["user"] in BUYER_IDS:
            ask("DELETE", "/v1/admin/blocked/" + blocked["user"], OPERATOR)


a_reservation()
schemathesis.auth.set_from_requests(Caller())


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Replaces half of the made-up parameters with existing ones, so that both kinds are requested."""
    parameters = dict(path_parameters or {})
    for name in KNOWN.keys() & parameters.keys():
        made_up = hashlib.sha256(str(parameters[name]).encode()).digest()[0] % 2
        if not made_up:
            parameters[name] = KNOWN[name]()
    return parameters
