"""Mirror of src/anchored/cli/data.py: a download from a server on loopback, told on stderr."""

import hashlib
import http.server
import json
import sys
import threading

import pytest
from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app
from anchored.data.downloads import DOWNLOADS, Download, RemoteFile

CONTENT = b"pixels" * 1000


class Quiet(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *_):
        pass


@pytest.fixture
def address(monkeypatch):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        file = RemoteFile("toy.bin", hashlib.md5(CONTENT).hexdigest())
        monkeypatch.setitem(DOWNLOADS, "mnist", Download((file,), ("http://127.0.0.1:1/",), "MNIST/raw"))
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("terminal", [False, True])
def test_fetches_the_files_and_says_where_they_are(address, tmp_path, monkeypatch, terminal):
    monkeypatch.setattr("anchored.cli.data.sys.stderr.isatty", lambda: terminal, raising=False)
    done = CliRunner().invoke(app, ["data", "mnist", "--root", str(tmp_path), "--mirror", address, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {"name": "mnist", "root": str(tmp_path), "folder": str(tmp_path / "MNIST/raw")}
    assert (tmp_path / "MNIST/raw/toy.bin").read_bytes() == CONTENT


def test_a_line_per_file_where_there_is_no_terminal(address, tmp_path):
    done = CliRunner().invoke(app, ["data", "mnist", "--root", str(tmp_path), "--mirror", address])
    assert done.stderr == "toy.bin, 6,000 bytes\n"
    assert f"anchored fit mnist --data-root {tmp_path}" in done.stdout


def test_a_bar_per_file_on_a_terminal(monkeypatch, capsys):
    from anchored.cli.data import _shown

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with _shown() as progress:
        progress("toy.bin", 500, 1000)
        progress("toy.bin", 1000, 1000)
    assert "toy.bin" in capsys.readouterr().err


def test_an_unknown_name_is_refused(tmp_path):
    error = CliRunner().invoke(app, ["data", "mnisd", "--root", str(tmp_path)]).exception
    assert isinstance(error, InputError)
    assert "did you mean 'mnist'" in str(error)


@pytest.mark.parametrize("name", ["cifar10n-worse", "agnews"])
def test_sets_that_are_laid_out_by_hand_say_how(name, tmp_path):
    done = CliRunner().invoke(app, ["data", name, "--root", str(tmp_path)])
    assert isinstance(done.exception, InputError)
    assert "https://" in str(done.exception)
    assert "below the root" in str(done.exception)
    assert not list(tmp_path.iterdir())
