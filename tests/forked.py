"""Commands in forked processes: torch is imported once, and each command has its own process, limits and output."""

import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

_WRITES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "fcntl.flock"}
_RUNS = {"os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn"}


@cache
def preload():
    """Import what commands import, once for all children: it takes seconds, and each child would pay for it again."""
    import torch

    torch.set_num_threads(1)
    commands = [
        f"anchored.cli.{path.stem}" for path in Path(import_module("anchored.cli").__file__).parent.glob("*.py")
    ]
    packages = (
        "anchored.audit anchored.audit.judges anchored.estimator anchored.export anchored.features anchored.paper",
        "anchored.report anchored.review.server anchored.runs anchored.training torch._dynamo torch.distributed",
        "scipy.optimize scipy.spatial scipy.special sklearn.datasets sklearn.linear_model sklearn.neighbors jinja2",
        "matplotlib.figure matplotlib.backends.backend_svg matplotlib.backends.backend_agg PIL.PngImagePlugin",
        "rich.console rich.table pyarrow.parquet safetensors.torch http.server",
    )
    for name in [*commands, *" ".join(packages).split()]:
        with suppress(ImportError):
            import_module(name)


def _megabytes_held():
    """Memory of this process: a forked child begins with its parent's, however little of it is its own."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        code: Its exit code; minus the number of the signal that killed it; None if it had to be stopped for the time.
        out: What it printed on stdout.
        err: What it printed on stderr.
        seconds: How long it took.
        megabytes: The most memory that it held beyond what it was forked with.
        writes: How often it changed the file system.
        runs: Programs that it started.
    """

    code: int | None
    out: str
    err: str
    seconds: float
    megabytes: float
    writes: int
    runs: tuple[str, ...]


class Child:
    """A command that runs in a forked process of its own session.

    Args:
        arguments: The command line after ``anchored``.
        folder: Where it runs.
        gigabytes: Most address space that it may have.
        die_at: Number of the change of the file system at which it is killed, as by SIGKILL; None lets it live.
        environment: Variables to set.
    """

    def __init__(self, arguments, folder, *, gigabytes=9, die_at=None, environment=None):
        import anchored.__main__

        preload()
        self._place = Path(tempfile.mkdtemp(prefix="forked-"))
        self._begun = time.monotonic()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            code = 70
            try:
                os.setsid()
                os.chdir(folder)
                self._streams()
                (self._place / "held").write_text(str(_megabytes_held()))
                os.environ.update(environment or {})
                resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                signal.signal(signal.SIGINT, signal.default_int_handler)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                sys.addaudithook(self._hook(die_at))
                sys.argv = ["anchored", *map(str, arguments)]
                try:
                    anchored.__main__.main()
                    code = 0
                except SystemExit as ended:
                    code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
                except BaseException:
                    traceback.print_exc()
                    code = 1
                with suppress(Exception):
                    sys.stdout.flush()
            finally:
                os._exit(code)

    def _streams(self):
        with open(os.devnull) as null:
            os.dup2(null.fileno(), 0)
        for number, name in ((1, "out"), (2, "err")):
            handle = os.open(self._place / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(handle, number)
            os.close(handle)
        sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115

    def _hook(self, die_at):
        log = os.open(self._place / "events", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        seen = 0

        def hook(event, arguments):
            nonlocal seen
            if event == "open":
                mode, flags = arguments[1], arguments[2]
                counts = (isinstance(mode, str) and mode[:1] in ("w", "a", "x")) or (
                    mode is None and isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
                )
            else:
                counts = event in _WRITES
            if counts:
                seen += 1
                os.write(log, b"w\n")
                if seen == die_at:
                    os.kill(0, signal.SIGKILL)  # the whole session: helpers that it started, too
            elif event in _RUNS:
                os.write(log, f"r {arguments[0]!r:.200}\n".encode())

        return hook

    def wait(self, seconds, *, end=True):
        """Wait for it; return how it ended, or None if it still runs (with ``end``, it is then killed)."""
        until = time.monotonic() + seconds
        while True:
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
            if pid:
                return self._ended(os.waitstatus_to_exitcode(status), used)
            if time.monotonic() > until:
                return self.kill(late=True) if end else None
            time.sleep(0.002)

    def kill(self, *, late=False):
        """Kill the session with SIGKILL."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        _, status, used = os.wait4(self.pid, 0)
        return self._ended(None if late else os.waitstatus_to_exitcode(status), used)

    def out(self):
        """What it has printed on stdout so far."""
        with suppress(FileNotFoundError):
            return (self._place / "out").read_text(encoding="utf-8", errors="replace")
        return ""

    def _ended(self, code, used):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)  # whatever it left running
        texts = {}
        for name in ("out", "err", "events", "held"):
            path = self._place / name
            texts[name] = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
            path.unlink(missing_ok=True)
        self._place.rmdir()
        events = texts["events"].splitlines()
        return Ended(
            code,
            texts["out"],
            texts["err"],
            time.monotonic() - self._begun,
            max(0.0, used.ru_maxrss / 1024 - float(texts["held"] or 0)),
            sum(line == "w" for line in events),
            tuple(line[2:] for line in events if line.startswith("r ")),
        )


def run(arguments, folder, *, seconds=60.0, **options):
    """Run a command to its end; a watchdog kills it after ``seconds``, and ``code`` is None then."""
    return Child(arguments, folder, **options).wait(seconds)
