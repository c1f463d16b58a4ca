"""kazoo's locks behind dlmtest's lock client protocol: python3 kazoo_lock.py [mutex|rw].

The client is kazoo's own with its defaults; the session timeout is the lease. Its
listener tells suspended, resumed and lost. kazoo tells no validity and no token.
"""

import logging
import sys
from urllib.parse import quote

import kazoo
from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import LockTimeout, SessionExpiredError
from kazoo.version import __version__

from dlmtest_adapter import Held, Lock, NotGranted, NotHeld, serve

logging.basicConfig(level=logging.WARNING)
kind = (sys.argv + ["mutex"])[1]


class Kazoo(Lock):
    name, library, offers = "kazoo", __version__, ["try", "events", "lease", "renews", "wait"]
    if kind == "rw":
        name, offers = "kazoo-rw", offers + ["shared"]

    def open(self, endpoints, lease, client, tell, **_):
        self.zk, self.client, self.tell, self.down = KazooClient(hosts=",".join(endpoints), timeout=lease), client, tell, False
        self.zk.add_listener(self.listen)
        self.zk.start()
        self.session = self.zk.client_id

    def listen(self, state):
        if state == KazooState.SUSPENDED:
            self.down = True
            self.tell("suspended", why="connection lost")
        elif state == KazooState.LOST:
            self.down = False  # a new session follows, in which nothing is held
            self.tell("lost", why="session lost")
        elif self.down:
            self.down = False
            self.tell("resumed", why="connected again")

    def acquire(self, key, wait, shared, permits):
        recipe = self.zk.Lock if kind == "mutex" else self.zk.ReadLock if shared else self.zk.WriteLock
        lock = recipe("/dlmtest/%s/%s" % (self.name, quote(key, safe="")), self.client)  # a node's name cannot have every character
        try:
            if not (lock.acquire(timeout=wait) if wait > 0 else lock.acquire(blocking=False)):
                raise Held("by another")
        except (LockTimeout, SessionExpiredError) as e:
            raise NotGranted("%s: %s" % (type(e).__name__, e))
        return lock

    def release(self, lock):
        if not lock.release():
            raise NotHeld("kazoo holds it no more")

    def close(self):
        self.zk.stop()
        self.zk.close()


serve(Kazoo())
