"""Mirror of src/anchored/cli/review.py: what is served and where decisions go; that a second review goes on from it."""

import json
import shutil
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

import pytest
from tests.unit.review.audits import audit_run
from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app
from anchored.data import read_corrections
from anchored.review import ReviewServer
from anchored.runs import RunData, RunFolder, open_data


def call(*arguments):
    return CliRunner().invoke(app, ["review", *map(str, arguments)])


@pytest.fixture
def run(table_run, tmp_path):
    """A copy of the finished run, with an audit by its own model."""
    folder = Path(shutil.copytree(table_run.path, tmp_path / "run"))
    config = table_run.read_config()
    audit_run(folder, open_data(config).train)
    return folder


@pytest.fixture
def visitor(monkeypatch):
    """Instead of serving for ever: the first ``n`` suspects are accepted over HTTP, then Ctrl-C."""
    import threading

    seen = {}
    serve = ReviewServer.serve

    def visited(server):
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        try:
            seen.update(json.load(urlopen(server.address + "suspects")))
            for index in seen["index"][: visit.accept]:
                body = json.dumps({"index": index, "decision": "accept"}).encode()
                urlopen(Request(server.address + "decisions", body, {"Content-Type": "application/json"})).close()
        finally:
            server.stop()
            thread.join()
        raise KeyboardInterrupt

    def visit():
        return seen

    visit.accept = 2
    monkeypatch.setattr(ReviewServer, "serve", visited)
    return visit


def test_the_suspects_are_served_and_decisions_kept_with_the_run(run, visitor):
    done = call(run, "--no-open")
    assert done.exit_code == 0, done.output
    assert "open http://127.0.0.1:" in done.output
    kept = read_corrections(run / "corrections.csv").lines
    assert [line.index for line in kept] == visitor()["index"][:2]
    again = f"anchored fit --config {run}/config.yaml --corrections {run}/corrections.csv --out NEW-RUN"
    assert f"2 decisions are kept; train with: {again}" in done.stderr
    call(run, "--no-open")
    assert [made[:2] for made in visitor()["decisions"]] == [[line.index, "accept"] for line in kept]


def test_doubted_labels_that_are_no_suspects_are_accounted_for(run, visitor):
    file = run / "audit" / "suspects.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    place = {name: i for i, name in enumerate(lines[0].split(","))}
    rows = [line.split(",") for line in lines[1:]]
    for row in rows:
        if row[place["given"]] == row[place["suggested"]]:
            row[place["probability_wrong"]] = "0.6"  # more probably wrong than right, and yet the likeliest
    unresolved = sum(row[place["given"]] == row[place["suggested"]] for row in rows)
    assert unresolved > 1
    file.write_text("\n".join([lines[0], *map(",".join, rows)]) + "\n", encoding="utf-8")
    assert f"{unresolved} more labels are doubted, but no other class is likelier" in call(run, "--no-open").output
    assert json.loads(call(run, "--no-open", "--json").stdout)["doubted_without_suggestion"] == unresolved


def test_json_says_where_in_one_object(run, visitor, tmp_path):
    done = call(run, "--no-open", "--json", "--top", 1, "--corrections", tmp_path / "mine.csv")
    told = json.loads(done.stdout)
    assert told["address"].startswith("http://127.0.0.1:")
    assert (told["suspects"], told["decided"], told["corrections"]) == (1, 0, str(tmp_path / "mine.csv"))
    assert len(visitor()["index"]) == 1
    assert len(read_corrections(tmp_path / "mine.csv").lines) == 1
    assert not (run / "corrections.csv").exists()


def test_a_static_page_is_written_and_nothing_is_served(run, tmp_path):
    done = call(run, "--static", tmp_path / "review.html", "--json")
    assert json.loads(done.stdout)["suspects"] > 0
    page = (tmp_path / "review.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "ä \\u003cb>" in page
    assert not (run / "corrections.csv").exists()


def test_a_run_without_an_audit_is_audited_first(run, visitor, monkeypatch):
    folder = run / "audit"
    ready = folder.rename(run / "ready")

    def audit(path, **options):
        shutil.copytree(ready, path / "audit")
        print("what was found")

    monkeypatch.setattr("anchored.cli.audit.audit", audit)
    done = call(run, "--no-open", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["suspects"] > 0
    assert "was not audited yet" in done.stderr
    assert "what was found" in done.stderr
    assert len(visitor()["index"]) > 0


def test_the_review_of_a_corrected_run_goes_on_in_a_file_that_has_all(run, visitor, tmp_path):
    call(run, "--no-open")
    config = RunFolder.open(run).read_config()
    second = tmp_path / "second"
    fitted = CliRunner().invoke(
        app,
        ["fit", config.data.source, "--label", "kind", "--method", "ce", "--backbone", "tiny", "--epochs", "1",
         "--corrections", str(run / "corrections.csv"), "--out", str(second), "--json"],
    )  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    assert json.loads(fitted.stdout)["corrections"]["changed"] == 2
    assert "2 labels changed by 2 decisions" in fitted.stderr
    corrected = RunFolder.open(second).read_config()
    data = RunData.open(open_data(corrected), corrected).labelled
    audit_run(second, data)
    visitor.accept = 1
    done = call(second, "--no-open")
    assert done.exit_code == 0, done.output
    lines = read_corrections(second / "corrections.csv").lines
    assert [line.row() for line in lines[:2]] == [
        line.row() for line in read_corrections(run / "corrections.csv").lines
    ]
    assert len(lines) == 3
    later = config.change({"data": {"corrections": str(second / "corrections.csv")}})
    changed = RunData.open(open_data(config), later).labelled
    assert data.class_names[int(changed.labels[lines[2].index])] == lines[2].label


@pytest.mark.usefixtures("visitor")
def test_refuses_what_cannot_be(run, tmp_path):
    for flags, message in (
        ((run, "--top", 0), "--top must be at least 1, got 0"),
        ((run, "--static", tmp_path / "no" / "r.html"), "--static must be a file in a folder that exists"),
        ((run, "--port", 70000), "--port must lie in 0..65535"),
        ((tmp_path / "nothing",), "holds no run"),
    ):
        error = call(*flags).exception
        assert isinstance(error, InputError)
        assert message in str(error)


@pytest.mark.usefixtures("visitor")
def test_corrections_of_other_data_are_refused_before_anything_is_added(run, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("index,id,given,decision,label,time\n0,row 5,fish,keep,fish,t\n")
    error = call(run, "--corrections", other).exception
    assert "other.csv, line 2: sample 'row 5' was labelled 'fish'" in str(error)
    assert other.read_text().count("\n") == 2


def test_an_audit_without_a_suspect_leaves_nothing_to_review(run):
    path = run / "audit" / "suspects.csv"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    assert "suspects no label, so there is nothing to review" in str(call(run).exception)


def test_a_browser_is_opened_only_where_there_is_a_screen(run, visitor, monkeypatch):
    opened = []

    def follow(door):
        path = Path(unquote(urlsplit(door).path))
        opened.append((stat.S_IMODE(path.stat().st_mode), path.read_text()))

    monkeypatch.setattr("webbrowser.open", follow)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    call(run)
    assert opened == []
    monkeypatch.setenv("DISPLAY", ":0")
    call(run, "--no-open")
    assert opened == []
    call(run)
    ((mode, page),) = opened
    assert mode == 0o600, "the address holds the secret"
    assert "http://127.0.0.1:" in page
