"""The adapter's side of dlmtest's lock client protocol, version 1 (docs/protocol.md).

Copy it beside your adapter. It needs the standard library alone. Write a class with
the methods of Lock, and call serve() with it; redis_py.py is the shortest example.
"""

import json
import os
import sys
import threading
import time
import traceback


class NotGranted(Exception):
    """acquire, try: nothing is held, and nothing will be."""


class Held(NotGranted):
    """acquire, try: not granted, and the service said that another holds the lock."""


class NotHeld(Exception):
    """extend, release: the service knows the grant no more."""


class Config(Exception):
    """Invalid configuration; do not retry."""


class Unsupported(Exception):
    """The library does not do this."""


CODES = {Held: "held", NotGranted: "not-granted", NotHeld: "not-held", Config: "config", Unsupported: "unsupported"}


class Lock:
    """What an adapter does. Any other exception than the five above says: the outcome is unknown."""

    name, library, offers = "?", "?", []

    def open(self, endpoints, lease, client, tell, **more):
        """Open a session: endpoints are host:port, lease is seconds, tell(event, grant, why) passes on events."""

    def acquire(self, key, wait, shared, permits):
        """Wait at most wait seconds (0: do not wait). Return the grant, any object; attributes token,
        deadline_ns and sent_ns of it are told where they are offered. Of a semaphore permits is
        (how many are wanted, how many there are in all); else None."""
        raise Unsupported

    def extend(self, grant):
        raise Unsupported

    def release(self, grant):
        raise Unsupported

    def close(self):
        pass


def now():
    """CLOCK_MONOTONIC, in nanoseconds."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def serve(lock):
    """Answer what is asked on stdin until it ends. Never returns."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints to stdout goes to the log
    mutex, opened, grants, names = threading.Lock(), threading.Event(), {}, {}

    def say(**message):
        with mutex:
            out.write(json.dumps(message) + "\n")
            out.flush()

    def tell(event, grant=None, why=""):
        message = {"event": event, "why": why, "at_ns": now()}
        if grant is not None:
            if id(grant) not in names:
                return  # it has not been granted yet
            message["grant"] = names[id(grant)]
        say(**message)

    def claims(grant):
        told = {"token": "token", "deadline_ns": "validity", "sent_ns": "sent"}
        return {name: getattr(grant, name) for name, offer in told.items() if offer in lock.offers}

    def take(r):
        wait = 0 if r["do"] == "try" else r["wait_ms"] / 1000
        permits = (r.get("want", 1), r["permits"]) if "permits" in r else None
        grant = lock.acquire(r["key"], wait, r.get("mode") == "shared", permits)
        with mutex:
            name = "g%d" % (len(grants) + 1)
            grants[name], names[id(grant)] = grant, name
        return {"grant": name, **claims(grant)}

    def held(r):
        grant = grants.get(r["grant"])
        if grant is None:
            raise NotHeld("it was released, or never granted")
        return grant

    def close():
        for name in [n for n, grant in grants.items() if grant is not None]:
            try:
                lock.release(grants[name])
            except Exception as e:
                print("release at close:", e, file=sys.stderr)  # at worst its lease ends
        if opened.is_set():
            lock.close()

    def do(r):
        what = r["do"]
        if what == "hello":
            if 1 not in r["versions"]:
                raise Unsupported("this adapter speaks version 1")
            return {"version": 1, "name": lock.name, "library": lock.library, "offers": ["concurrent"] + lock.offers}
        if what == "open":
            opened.set()
            lock.open(endpoints=r["endpoints"], lease=r["lease_ms"] / 1000, client=r["client"], tell=tell)
        elif what in ("acquire", "try"):
            return take(r)
        elif what == "extend":
            lock.extend(held(r))
            return claims(held(r))
        elif what == "release":
            lock.release(held(r))
            grants[r["grant"]] = None  # a second release is answered here: not every library does
        elif what == "close":
            close()
        elif what != "ping":
            raise Unsupported(what)
        return {}

    def answer(r):
        try:
            say(id=r["id"], ok=do(r))
        except Exception as e:  # whatever a library throws is an answer
            code = next((c for kind, c in CODES.items() if isinstance(e, kind)), "unknown")
            if code == "unknown":
                traceback.print_exc()
            say(id=r["id"], error={"code": code, "message": ("%s: %s" % (type(e).__name__, e))[:1000]})

    for line in sys.stdin:
        threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
    sys.stderr.flush()
    os._exit(0)  # threads of the library do not keep it
