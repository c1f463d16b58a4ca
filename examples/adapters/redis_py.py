"""redis-py's Lock behind dlmtest's lock client protocol: python3 redis_py.py.

The client is redis-py's own with its defaults, but for thread_local=False: a request
runs in a thread of its own. Only the moment of the last SET is looked at, as redis-py
does not tell until when a lock is valid.
"""

import threading

import redis
from redis.exceptions import ConnectionError, LockNotOwnedError, ResponseError

from dlmtest_adapter import Held, Lock, NotGranted, NotHeld, now, serve


class Stamping(redis.Redis):
    """A client that remembers when this thread's last command was sent."""

    def execute_command(self, *args, **options):
        sent.ns = now()
        return super().execute_command(*args, **options)


sent = threading.local()


class RedisPy(Lock):
    name, library, offers = "redis-py", redis.__version__, ["try", "extend", "lease", "wait", "sent"]

    def open(self, endpoints, lease, **_):
        host, port = endpoints[0].rsplit(":", 1)
        self.db, self.lease = Stamping(host=host, port=int(port)), lease

    def acquire(self, key, wait, shared, permits):
        lock = self.db.lock("dlmtest/redis-py/" + key, timeout=self.lease, thread_local=False)
        try:
            if not lock.acquire(blocking=wait > 0, blocking_timeout=wait):
                raise Held("by another")
        except ResponseError as e:
            raise NotGranted(str(e))
        except ConnectionError as e:
            if "connecting to" in str(e):
                raise NotGranted(str(e))  # the request did not leave, and those before it were refused
            raise
        lock.sent_ns = sent.ns
        return lock

    def extend(self, lock):
        try:
            lock.reacquire()
        except LockNotOwnedError as e:
            raise NotHeld(str(e))
        lock.sent_ns = sent.ns

    def release(self, lock):
        try:
            lock.release()
        except LockNotOwnedError as e:
            raise NotHeld(str(e))

    def close(self):
        self.db.close()


serve(RedisPy())
