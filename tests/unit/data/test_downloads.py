"""Mirror of src/anchored/data/downloads.py: a server on this machine that cuts, lies and hands out traps."""

import gzip
import hashlib
import http.server
import io
import tarfile
import threading

import pytest

from anchored._errors import InputError
from anchored.data import DOWNLOADS, download, downloads
from anchored.data.downloads import Download, RemoteFile, extract, fetch

CONTENT = bytes(range(256)) * 4096  # a megabyte


class Server(http.server.ThreadingHTTPServer):
    """Serves ``files``; the first ``cuts`` answers end after ``cut_after`` bytes, ``ranges``: Range is known."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.requests, self.cuts, self.cut_after, self.ranges = {}, [], 0, 100_000, True

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server, name = self.server, self.path.lstrip("/")
        asked = self.headers.get("Range")
        server.requests.append((name, asked))
        if name not in server.files:
            self.send_error(404)
            return
        data = server.files[name]
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and server.ranges else 0
        if start and start >= len(data):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        body = data[start:]
        if server.cuts > 0:
            server.cuts -= 1
            body = body[: server.cut_after]
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def remote(name, content=CONTENT):
    return RemoteFile(name, hashlib.md5(content, usedforsecurity=False).hexdigest())


def test_a_file_arrives_whole_and_progress_is_told(server, tmp_path):
    server.files["f"] = CONTENT
    told = []
    path = fetch(remote("f"), tmp_path, [server.url], progress=lambda *now: told.append(now))
    assert path.read_bytes() == CONTENT
    assert told[-1] == ("f", len(CONTENT), len(CONTENT))
    assert [name.name for name in tmp_path.iterdir()] == ["f"]


def test_a_file_that_is_there_and_right_is_left_alone(server, tmp_path):
    (tmp_path / "f").write_bytes(CONTENT)
    fetch(remote("f"), tmp_path, [server.url])
    assert server.requests == []


def test_a_file_that_is_there_and_wrong_is_replaced(server, tmp_path):
    server.files["f"] = CONTENT
    (tmp_path / "f").write_bytes(b"old")
    assert fetch(remote("f"), tmp_path, [server.url]).read_bytes() == CONTENT


def test_a_cut_connection_is_taken_up_where_it_broke_off(server, tmp_path):
    server.files["f"], server.cuts = CONTENT, 2
    assert fetch(remote("f"), tmp_path, [server.url]).read_bytes() == CONTENT
    assert [asked for _, asked in server.requests] == [None, "bytes=100000-", "bytes=200000-"]


def test_a_part_left_by_an_earlier_run_is_taken_up(server, tmp_path):
    server.files["f"] = CONTENT
    (tmp_path / "f.part").write_bytes(CONTENT[:777])
    assert fetch(remote("f"), tmp_path, [server.url]).read_bytes() == CONTENT
    assert server.requests == [("f", "bytes=777-")]


def test_a_whole_part_is_only_checked(server, tmp_path):
    server.files["f"] = CONTENT
    (tmp_path / "f.part").write_bytes(CONTENT)
    assert fetch(remote("f"), tmp_path, [server.url]).read_bytes() == CONTENT


def test_a_server_without_ranges_sends_all_again(server, tmp_path):
    server.files["f"], server.ranges = CONTENT, False
    (tmp_path / "f.part").write_bytes(b"x" * 500)
    assert fetch(remote("f"), tmp_path, [server.url]).read_bytes() == CONTENT


def test_a_rotten_part_is_thrown_away_and_fetched_anew(server, tmp_path):
    server.files["f"] = CONTENT
    (tmp_path / "f.part").write_bytes(b"x" * 500)
    assert fetch(remote("f"), tmp_path, [server.url]).read_bytes() == CONTENT
    assert [asked for _, asked in server.requests] == ["bytes=500-", None]


def test_a_connection_that_never_gets_further_ends_in_one_line(server, tmp_path):
    server.files["f"], server.cuts, server.cut_after = CONTENT, 99, 0
    with pytest.raises(InputError, match=r"^f could not be downloaded \(.*0 of 1,048,576 bytes\); try again") as caught:
        fetch(remote("f"), tmp_path, [server.url])
    assert "\n" not in str(caught.value)


def test_a_wrong_checksum_removes_the_file_and_says_so(server, tmp_path):
    server.files["f"] = CONTENT[:-1] + b"!"
    with pytest.raises(InputError, match=rf"MD5 \w+ is not the published {remote('f').md5}"):
        fetch(remote("f"), tmp_path, [server.url])
    assert list(tmp_path.iterdir()) == []


def test_the_next_mirror_is_asked(server, tmp_path):
    server.files["good/f"] = CONTENT
    server.files["bad/f"] = b"something else"
    mirrors = [f"{server.url}none/", f"{server.url}bad/", f"{server.url}good/"]
    assert fetch(remote("f"), tmp_path, mirrors).read_bytes() == CONTENT


def test_no_mirror_left_names_the_failures(server, tmp_path):
    with pytest.raises(InputError, match="HTTP 404"):
        fetch(remote("f"), tmp_path, [server.url])
    with pytest.raises(InputError, match="could not be downloaded"):
        fetch(remote("f"), tmp_path, ["http://127.0.0.1:9/"])


def archive(*entries):
    """A .tar.gz of (name, content) pairs, or of TarInfo objects."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                tar.addfile(entry)
            else:
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                tar.addfile(info, io.BytesIO(entry[1]))
    return stream.getvalue()


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_an_archive_is_unpacked_into_its_folder(tmp_path):
    (tmp_path / "a.tar.gz").write_bytes(archive(("d/x", b"1"), ("d/e/y", b"2")))
    extract(tmp_path / "a.tar.gz", tmp_path, "d")
    assert (tmp_path / "d" / "e" / "y").read_bytes() == b"2"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar.gz", "d"]


@pytest.mark.parametrize(
    "trap",
    [
        ("../evil", b"x"),
        ("d/../../evil", b"x"),
        ("/tmp/evil", b"x"),
        ("evil", b"x"),
        ("d\\..\\evil", b"x"),
        special("d/link", tarfile.SYMTYPE, "/etc"),
        special("d/link", tarfile.SYMTYPE, "x"),
        special("d/link", tarfile.LNKTYPE, "d/x"),
        special("d/device", tarfile.CHRTYPE),
        special("d/pipe", tarfile.FIFOTYPE),
    ],
    ids=[
        "parent",
        "parent of parent",
        "absolute",
        "outside",
        "backslash",
        "symlink out",
        "symlink",
        "hard link",
        "device",
        "pipe",
    ],
)
def test_an_archive_with_a_trap_is_not_unpacked_at_all(tmp_path, trap):
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.tar.gz").write_bytes(archive(("d/x", b"1"), trap))
    with pytest.raises(InputError, match=r"a\.tar\.gz: its entry .*nothing was unpacked"):
        extract(root / "a.tar.gz", root, "d")
    assert [path.name for path in root.iterdir()] == ["a.tar.gz"]
    assert [path.name for path in tmp_path.iterdir()] == ["root"]


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9])
def test_a_cut_archive_leaves_nothing_behind(tmp_path, keep):
    whole = archive(("d/x", CONTENT), ("d/y", hashlib.sha256(b"y").digest() * 1000))
    (tmp_path / "a.tar.gz").write_bytes(whole[: int(len(whole) * keep)])
    with pytest.raises(InputError, match=r"a\.tar\.gz: the archive is damaged or cut short"):
        extract(tmp_path / "a.tar.gz", tmp_path, "d")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.gz"]


def test_an_archive_that_would_fill_the_disk_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "_MAX_UNPACKED", 1000)
    (tmp_path / "a.tar.gz").write_bytes(archive(("d/x", b"0" * 1001)))
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        extract(tmp_path / "a.tar.gz", tmp_path, "d")


def test_an_archive_of_something_else_is_refused(tmp_path):
    (tmp_path / "a.tar.gz").write_bytes(archive())
    with pytest.raises(InputError, match="does not contain the folder 'd'"):
        extract(tmp_path / "a.tar.gz", tmp_path, "d")


def test_a_whole_set_is_downloaded_once(server, tmp_path, monkeypatch):
    packed, plain = archive(("d/x", b"1")), gzip.compress(b"idx")
    server.files |= {"p.tar.gz": packed, "q.gz": plain}
    table = {
        "packed": Download((remote("p.tar.gz", packed),), (server.url,), ".", "d"),
        "plain": Download((remote("q.gz", plain),), (server.url,), "Q/raw"),
    }
    monkeypatch.setattr(downloads, "DOWNLOADS", table)
    assert download("packed", tmp_path / "r") == tmp_path / "r" / "d"
    assert download("plain", tmp_path / "r") == tmp_path / "r" / "Q" / "raw"
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["Q", "d"]
    asked = len(server.requests)
    download("packed", tmp_path / "r")
    download("plain", tmp_path / "r")
    assert len(server.requests) == asked


def test_the_official_table_is_complete():
    assert set(DOWNLOADS) == {"mnist", "fashion-mnist", "cifar10", "cifar100"}
    checksums = [file.md5 for entry in DOWNLOADS.values() for file in entry.files]
    assert len(set(checksums)) == len(checksums) == 10
    assert all(len(md5) == 32 and int(md5, 16) for md5 in checksums)
    assert all(mirror.endswith("/") for entry in DOWNLOADS.values() for mirror in entry.mirrors)


def test_names_are_checked(tmp_path):
    with pytest.raises(InputError, match="did you mean 'mnist'"):
        download("mnits", tmp_path)
    with pytest.raises(InputError, match="needs no download"):
        download("digits", tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="choose another root"):
        download("mnist", tmp_path / "file")
