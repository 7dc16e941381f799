"""Talks to stride-harness as stride does: one job on stdin, events on descriptor 3."""
import json
import os
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))

# Descriptor 3 stays ours from the start, so that no pipe gets that number by chance.
if not os.path.exists("/proc/self/fd/3") or os.readlink("/proc/self/fd/3") != "/dev/null":
    os.dup2(os.open("/dev/null", os.O_RDWR), 3)


def program():
    """The harness under test: $STRIDE_HARNESS, else the build's, else a bundle's."""
    build = os.environ.get("BUILD", "build")
    places = [os.environ.get("STRIDE_HARNESS"), os.path.join(REPO, build, "stride-harness"),
              os.path.join(REPO, "bin", "stride-harness")]
    for place in places:
        if place and os.access(place, os.X_OK):
            return place
    raise SystemExit("no stride-harness: build it, or set STRIDE_HARNESS")


def root():
    """The folder with kernels/: $STRIDE_ROOT, else this repository."""
    return os.environ.get("STRIDE_ROOT", REPO)


class Attempt:
    """One child, warmed and given one job; `record` is what its events add up to."""

    def __init__(self, lab, source, stages, backend="gpu", base=None, environment=None):
        self.record, self.notes, self.times, self.done_s, self.events = {}, [], {}, {}, []
        self.out = tempfile.TemporaryDirectory(prefix="stride-gpu-")
        read, write = os.pipe()
        os.dup2(write, 3, inheritable=True)
        os.close(write)
        self.start = time.monotonic()
        self.child = subprocess.Popen(
            [program(), "--root", base or root(), "--lab", lab], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=(3,),
            env=dict(os.environ, **(environment or {})))
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 3)
        os.close(null)
        self.pipe = os.fdopen(read, "r", errors="replace")
        self.job = {"nonce": "n", "source": os.path.abspath(source), "out": self.out.name,
                    "backend": backend, "stages": stages}
        first = self.pipe.readline()
        self.ready_s = time.monotonic() - self.start
        self.is_ready = '"ready"' in first

    def send(self):
        self.sent = time.monotonic()
        try:
            self.child.stdin.write((json.dumps(self.job) + "\n").encode())
            self.child.stdin.close()
        except BrokenPipeError:
            pass
        return self

    def merge(self, into, what):
        for key, value in what.items():
            if isinstance(value, dict) and isinstance(into.get(key), dict):
                self.merge(into[key], value)
            else:
                into[key] = value

    def take(self, event):
        self.events.append(event)
        self.merge(self.record, event.get("set", {}))
        for key, value in event.get("add", {}).items():
            self.record.setdefault(key, []).append(value)
        kind = event.get("event")
        if kind == "note":
            self.notes.append(event["text"])
        elif kind == "done":
            self.times[event["stage"]] = event.get("ms", 0)  # no time of its own: part of event["within"]
            self.done_s[event["stage"]] = time.monotonic() - self.sent
        elif kind == "skip":
            self.record.setdefault("skipped", {})[event["stage"]] = event["why"]
        elif kind == "end":
            self.record["verdict"], self.record["summary"] = event["verdict"], event["summary"]
            self.end_s = time.monotonic() - self.sent

    def finish(self, limit=60):
        """Reads to the end and reaps the child; what it printed is in `output`."""
        output = open(os.path.join(self.out.name, "stdout"), "wb+")
        copier = subprocess.Popen(["head", "-c", "4000000"], stdin=self.child.stdout, stdout=output)
        drain = self.child.stdout
        for line in self.pipe:
            self.take(json.loads(line))
        copier.wait(limit)
        drain.close()
        self.child.wait(limit)
        self.gone_s = time.monotonic() - self.sent
        output.seek(0)
        self.output = output.read().decode(errors="replace")
        output.close()
        self.pipe.close()
        self.verdict = self.record.get("verdict", "no end")
        self.summary = self.record.get("summary", "")
        self.timing = self.record.get("timing")
        return self


def attempt(lab, source, stages, wait_s=0, **rest):
    """`wait_s`: how long the warm child waits for its job, as it does while somebody edits."""
    a = Attempt(lab, source, stages, **rest)
    time.sleep(wait_s)
    return a.send().finish()
