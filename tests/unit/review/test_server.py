"""Mirror of src/anchored/review/server.py: who is answered, with what, and that an answer means saved."""

import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from anchored import InputError
from anchored.data import read_corrections
from anchored.review import ReviewServer


@pytest.fixture
def server(review):
    with ReviewServer(review) as running:
        thread = threading.Thread(target=running.serve)
        thread.start()
        yield running
        running.stop()
        thread.join()


@pytest.fixture
def ask(server):
    """``ask(path)`` below the secret; ``raw`` asks for a path as it is."""

    def asked(path="", *, method="GET", body=None, headers=None, raw=None):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        try:
            connection.request(method, f"/{server.token}/{path}" if raw is None else raw, body, headers or {})
            answer = connection.getresponse()
            return SimpleNamespace(status=answer.status, headers=answer.headers, body=answer.read())
        finally:
            connection.close()

    return asked


def decision(**values):
    return {"method": "POST", "body": json.dumps(values), "headers": {"Content-Type": "application/json"}}


def test_listens_on_this_machine_only_and_says_where(server):
    assert server._server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.port}/{server.token}/"
    assert len(server.token) >= 32


def test_two_servers_have_two_secrets(review, server):
    with ReviewServer(review) as other:
        assert other.token != server.token


def test_serves_the_page_and_everything_it_needs(ask):
    page = ask()
    assert page.status == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert ask("state.js").headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert ask("review.css").status == 200
    told = ask("suspects")
    assert json.loads(told.body)["index"] == [5, 0, 7]
    assert told.headers["Cache-Control"] == "no-store"
    picture = ask("picture/11")
    assert (picture.headers["Content-Type"], picture.body[:4]) == ("image/png", b"\x89PNG")
    assert json.loads(ask("neighbours/5/1").body) == {"index": [], "id": [], "similarity": []}


@pytest.mark.parametrize("path", ["", "suspects", "picture/0", "state.js", "decisions"])
def test_refuses_a_wrong_or_missing_secret(server, ask, path):
    token = server.token
    for wrong in (f"/{path}", f"/{token[:-1]}/{path}", f"/{token}x/{path}", f"/{token.swapcase()}/{path}", f"//{path}"):
        for method in ("GET", "POST"):
            answer = ask(raw=wrong, method=method)
            assert (answer.status, b"whole address" in answer.body) == (403, True)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:{port}", ""])
def test_refuses_a_foreign_host(server, ask, host):
    assert ask(headers={"Host": host.format(port=server.port)}).status == 403
    assert ask(headers={"Host": f"localhost:{server.port}"}).status == 200


def test_refuses_a_foreign_origin(server, ask):
    body = decision(index=5, decision="accept")
    body["headers"]["Origin"] = "http://evil.example"
    assert ask("decisions", **body).status == 403
    body["headers"]["Origin"] = "null"
    assert ask("decisions", **body).status == 403
    body["headers"]["Origin"] = f"http://127.0.0.1:{server.port}"
    assert ask("decisions", **body).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "../../../etc/passwd", "..%2f..%2fetc/passwd", "picture/../../x", "picture/12", "picture/-1", "picture/1.5",
        "picture/0/", "picture//etc/passwd", "picture/١", "picture/9999999999999999999999", "page/index.html",
        "session.py", "rows/0", "neighbours/0/3", "neighbours/0", "corrections.csv", "decisions", "nothing",
    ],
)  # fmt: skip
def test_no_path_leads_anywhere_else(server, ask, path):
    from urllib.parse import quote

    answer = ask(raw=f"/{server.token}/{quote(path, safe='/%.,')}")
    assert answer.status == 404
    assert b"root:" not in answer.body


def test_every_answer_forbids_scripts_frames_and_other_origins(ask):
    for answer in (ask(), ask("suspects"), ask("nothing"), ask(raw="/")):
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert "Python" not in answer.headers["Server"]


def test_a_decision_is_in_the_file_when_the_answer_comes(review, ask):
    for count, (index, made) in enumerate(((5, "accept"), (0, "keep"), (5, "undo")), start=1):
        answer = ask("decisions", **decision(index=index, decision=made))
        assert (answer.status, json.loads(answer.body)) == (200, {"saved": True})
        assert len(read_corrections(review.log.path).lines) == count
    assert json.loads(ask("suspects").body)["decisions"] == [[0, "keep", 0]]


def test_many_at_once_are_all_kept_whole(review, ask):
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(ask, "decisions", **decision(index=i, decision="keep")) for i in (5, 0, 7) * 20]
        assert {job.result().status for job in jobs} == {200}
    assert len(read_corrections(review.log.path).lines) == 60


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b'{"index": 5}', 400),
        (b'{"index": "5", "decision": "accept"}', 400),
        (b'{"index": true, "decision": "accept"}', 400),
        (b'{"index": 5, "decision": "relabel", "label": "dog"}', 400),
        (b'{"index": 3, "decision": "accept"}', 404),
        (b'{"index": 5, "decision": "format the disk"}', 404),
        (b'{"index": 5, "decision": "relabel", "label": 7}', 404),
        (b" " * 5000, 413),
    ],
)
def test_refuses_a_body_that_is_no_decision(review, ask, body, status):
    before = review.log.path.read_bytes()
    answer = ask("decisions", method="POST", body=body, headers={"Content-Type": "application/json"})
    assert answer.status == status
    assert review.log.path.read_bytes() == before


def test_refuses_what_a_form_could_send(ask):
    body = decision(index=5, decision="accept")
    assert ask("decisions", **(body | {"headers": {"Content-Type": "text/plain"}})).status == 415
    assert ask("elsewhere", **body).status == 404


def test_a_decision_that_cannot_be_written_is_not_confirmed(review, ask, monkeypatch):
    def full(_line):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(review.log, "append", full)
    answer = ask("decisions", **decision(index=5, decision="accept"))
    assert (answer.status, answer.body) == (507, b"not saved: No space left on device\n")


def test_refuses_a_port_that_cannot_be_used(review, server):
    with pytest.raises(InputError, match=f"--port {server.port} cannot be used: Address already in use"):
        ReviewServer(review, port=server.port)
    with pytest.raises(InputError, match=r"--port must lie in 0..65535, got 70000"):
        ReviewServer(review, port=70000)
