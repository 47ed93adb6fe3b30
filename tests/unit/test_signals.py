"""Mirror of src/anchored/_signals.py: one line and the right code, whenever the signal comes and wherever lines go."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from anchored._signals import Terminated, catch_signals, importing


@pytest.fixture
def handlers():
    """The handlers of this process, given back at the end."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner in the background ignores it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated), (signal.SIGHUP, Terminated)]
)
def test_a_signal_becomes_an_exception(number, error):
    catch_signals()
    with pytest.raises(error) as stopped:
        os.kill(os.getpid(), number)
    if error is Terminated:
        assert stopped.value.code == 128 + number
        os.kill(os.getpid(), signal.SIGTERM)  # the second one is ignored


@pytest.mark.usefixtures("handlers")
def test_what_nohup_ignores_stays_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    catch_signals()
    os.kill(os.getpid(), signal.SIGINT)


def test_a_frame_within_an_import_is_recognised(tmp_path, monkeypatch):
    (tmp_path / "asks.py").write_text(
        "import sys\nfrom anchored._signals import importing\nSEEN = importing(sys._getframe())"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import asks

    assert asks.SEEN
    assert not importing(sys._getframe())


def _default_signals():
    """A runner in the background, or under nohup, ignores them."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def child(code, tmp_path, number=None, **options):
    (tmp_path / "slow.py").write_text("import os, time\nprint('now', flush=True)\ntime.sleep(30)")
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_default_signals,
        env=os.environ | {"PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{tmp_path}"} | options,
    )
    if number is not None:
        assert process.stdout.readline() == "now\n"
        process.send_signal(number)
    out, err = process.communicate(timeout=20)
    return process.returncode, out, err


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "told to stop (SIGTERM)"),
        (signal.SIGHUP, 129, "the terminal is gone (SIGHUP)"),
    ],
)
def test_a_signal_during_an_import_ends_at_once_with_one_line(tmp_path, number, code, said):
    program = "from anchored._signals import catch_signals\ncatch_signals()\nimport slow"
    assert child(program, tmp_path, number) == (code, "", f"anchored: {said}\n")


def test_closed_streams_are_opened_on_the_null_device(tmp_path):
    program = """
    import os, sys
    from anchored._signals import open_streams
    with open("there", "w") as report:
        pass
    for number in (0, 1, 2):
        os.close(number)
    sys.stdin = sys.stdout = sys.stderr = None
    open_streams()
    print("to nobody"); print("to nobody", file=sys.stderr)
    with open("there", "w") as report:
        assert report.fileno() > 2
        report.write(os.readlink("/proc/self/fd/1") + os.readlink("/proc/self/fd/2"))
    """
    folder = f"import os; os.chdir({str(tmp_path)!r})\n"
    assert child(folder + textwrap.dedent(program), tmp_path) == (0, "", "")
    assert (tmp_path / "there").read_text() == "/dev/null/dev/null"


def test_a_foreign_terminal_shows_codes(tmp_path):
    program = "from anchored._signals import open_streams\nopen_streams()\nimport sys\n"
    program += "print('a\u2215b')\nprint('c\u2215d', file=sys.stderr)"
    assert child(program, tmp_path, PYTHONIOENCODING="latin-1") == (0, "a\\u2215b\n", "c\\u2215d\n")


def test_nobody_has_to_listen_to_stderr(tmp_path):
    program = """
    import os, sys
    from anchored._signals import open_streams
    read, write = os.pipe()
    os.dup2(write, 2); os.close(read); os.close(write)
    open_streams()
    for _ in range(100):
        print("x" * 1000, file=sys.stderr, flush=True)
    print("done")
    """
    assert child(program, tmp_path)[:2] == (0, "done\n")


@pytest.mark.parametrize("lines", [3, 100_000])
def test_work_goes_on_if_nobody_reads_stdout_any_more(tmp_path, lines):
    program = f"""
    import sys
    from anchored._signals import open_streams, reader_is_gone
    import os
    read, write = os.pipe()
    os.dup2(write, 1); os.close(read); os.close(write)
    open_streams()
    for number in range({lines}):
        print(number)
    sys.stdout.flush()
    print("goes on", reader_is_gone(), file=sys.stderr)
    """
    assert child(program, tmp_path) == (0, "", "goes on True\n")


def test_a_full_device_is_an_error(tmp_path):
    program = """
    import os, sys
    from anchored._signals import open_streams, reader_is_gone
    full = os.open("/dev/full", os.O_WRONLY); os.dup2(full, 1)
    open_streams()
    print("lost")
    try:
        sys.stdout.flush()
    except OSError as error:
        print(error.strerror, reader_is_gone(), file=sys.stderr)
    """
    assert child(program, tmp_path) == (0, "", "No space left on device False\n")
