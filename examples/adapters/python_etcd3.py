"""python-etcd3's Lock behind dlmtest's lock client protocol: python3 python_etcd3.py.

The client is python-etcd3's own with its defaults, on the first endpoint alone, as it
knows one. It tells no validity, so the moment is looked at in which each lease was
asked for or renewed; its uuid fences nothing.
"""

import etcd3

from dlmtest_adapter import Config, Held, Lock, NotGranted, NotHeld, now, serve


class Stamping(etcd3.Etcd3Client):
    """A client that notes on each lease when it was asked for."""

    def lease(self, ttl, lease_id=None):
        sent_ns = now()
        lease = super().lease(ttl, lease_id)
        lease.sent_ns = sent_ns
        return lease


class PythonEtcd3(Lock):
    name, library, offers = "python-etcd3", etcd3.__version__, ["try", "extend", "lease", "wait", "sent"]

    def open(self, endpoints, lease, **_):
        if lease != int(lease) or lease < 2:
            raise Config("etcd grants whole seconds from 2 on, not %s" % lease)
        host, port = endpoints[0].rsplit(":", 1)
        self.db, self.lease = Stamping(host=host, port=int(port)), int(lease)
        self.db.get("dlmtest")  # the channel connects lazily

    def acquire(self, key, wait, shared, permits):
        lock = self.db.lock("dlmtest/" + key, ttl=self.lease)
        try:
            granted = lock.acquire(timeout=wait)
        except Exception as e:
            if lock.lease is None:  # no key was put, or that was answered with a no
                raise NotGranted("%s: %s" % (type(e).__name__, e))
            raise
        if not granted:
            raise Held("by another")
        lock.sent_ns = lock.lease.sent_ns
        return lock

    def extend(self, lock):
        sent_ns = now()
        if any(answer.TTL == 0 for answer in lock.refresh()):
            raise NotHeld("its lease has ended")
        lock.sent_ns = sent_ns

    def release(self, lock):
        if not lock.release():
            raise NotHeld("the key is not ours")

    def close(self):
        self.db.close()


serve(PythonEtcd3())
