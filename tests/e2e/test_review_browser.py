"""The review page in a real browser: decide with the keyboard, reload, kill the server, find everything kept."""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import ExitStack

import numpy as np
import pytest
from PIL import Image
from tests.unit.review.audits import write_rows

from anchored.audit import Audit
from anchored.cli.model import load_run
from anchored.cli.review import review
from anchored.data import correct, open_source, read_corrections
from anchored.review import Cases, DecisionLog, Neighbours, Review, ReviewServer
from anchored.runs import fit, open_data

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)>"
NAMES = (HOSTILE, "cat", "dog")
N = 60


def write_images(folder):
    """Class folders of small images: each class bright in a corner of its own."""
    rng = np.random.default_rng(0)
    for i in range(N):
        pixels = rng.integers(0, 60, size=(8, 8), dtype=np.uint8)
        top, left = ((0, 0), (0, 4), (4, 0))[i % 3]
        pixels[top : top + 4, left : left + 4] += 180
        (folder / NAMES[i % 3]).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / NAMES[i % 3] / f"{i:03}.png")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run on images, and an audit that suspects every one of them."""
    folder = tmp_path_factory.mktemp("review")
    write_images(folder / "data")
    split = open_source(str(folder / "data"))
    settings = {
        "data": {"source": str(folder / "data")},
        "method": {"name": "ce"},
        "backbone": {"name": "tiny"},
        "train": {"epochs": 1, "device": "cpu"},
    }
    fit(split, settings, folder=folder / "run")
    data = split.train
    labels = data.labels.tolist()
    rows = [
        (i, data.ids[i], NAMES[labels[i]], NAMES[(labels[i] + 1) % 3], round(0.99 - 0.4 * rank / N, 4))
        for rank, i in enumerate(np.random.default_rng(1).permutation(N).tolist())
    ]
    write_rows(folder / "run" / "audit", NAMES, rows)
    return folder / "run"


@pytest.fixture
def serve(run, tmp_path):
    """Starts ``anchored review`` in a process of its own, writing to ``tmp_path``; all of them are ended."""
    started = []

    def start(*flags, folder=run):
        command = [sys.executable, "-m", "anchored", "review", str(folder), "--no-open", "--json"]
        process = subprocess.Popen(
            [*command, "--corrections", str(tmp_path / "corrections.csv"), *flags],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        started.append(process)
        return process, json.loads(process.stdout.readline())["address"]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def served(run, tmp_path):
    """The same from a thread of this process, which starts at once: ``served()`` gives the address."""
    opened = ExitStack()

    def start(folder=run):
        loaded = load_run(folder, device="cpu")
        data = open_data(loaded.config).train
        log = opened.enter_context(DecisionLog(tmp_path / "corrections.csv"))
        about = Review(
            "run", data, Cases.of(Audit.load(folder / "audit")), log=log, neighbours=Neighbours(loaded.model, data)
        )
        server = opened.enter_context(ReviewServer(about))
        thread = threading.Thread(target=server.serve)
        thread.start()
        opened.callback(thread.join)
        opened.callback(server.stop)
        return server.address

    with opened:
        yield start


class Page:
    """The page as a person sees it."""

    def __init__(self, browser):
        self.browser = browser

    def open(self, address):
        self.browser.get(address)
        self.ready()
        return self

    def ready(self):
        self.until("return document.body.dataset.ready === 'true'")

    def until(self, script):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, 20).until(lambda browser: browser.execute_script(script))

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def text(self, name):
        return self.browser.execute_script("return document.getElementById(arguments[0]).textContent", name)

    def saved(self):
        """Wait until everything is confirmed, and whether it is saved."""
        self.until("return !document.getElementById('saved').textContent.startsWith('saving')")
        return self.text("saved")

    def decisions(self):
        """What the cards in sight say was decided, in their order."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll('.card')]"
            ".sort((a, b) => a.dataset.place - b.dataset.place).map(card => card.dataset.decision)"
        )

    def complaints(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]


@pytest.fixture
def page(browser):
    return Page(browser)


def test_twenty_decisions_by_keyboard_are_kept_over_a_reload_and_a_kill(page, serve, tmp_path):
    from selenium.webdriver.common.keys import Keys

    process, address = serve()
    page.open(address)
    assert page.text("progress") == f"0 of {N} decided"
    page.press(*"aakas", Keys.ENTER, *"akaka", *"ksaak", *"aak")
    page.press("l")
    page.press(*"do", Keys.ENTER)
    assert page.saved() == "saved"
    expected = {"a": "accept", "k": "keep", "s": "skip"}
    made = [expected[key] for key in "aakasaakakaksaakaak"] + ["relabel"]
    assert page.decisions()[:21] == [*made, ""]
    assert page.text("progress") == f"20 of {N} decided"
    lines = read_corrections(tmp_path / "corrections.csv").lines
    assert [line.decision for line in lines] == made
    assert lines[-1].label == "dog"

    page.browser.refresh()
    page.ready()
    assert page.decisions()[:21] == [*made, ""]

    process.send_signal(signal.SIGKILL)
    process.wait()
    page.press("a")
    page.until("return !document.getElementById('trouble').hidden")
    assert "was not saved" in page.text("trouble")
    assert page.text("saved") == "not saved"
    assert page.decisions()[20] == ""  # the page shows what is on the disk, and nothing more

    _, again = serve()
    assert again != address
    page.open(again)
    assert page.decisions()[:21] == [*made, ""]
    assert page.text("progress") == f"20 of {N} decided"


def test_undo_goes_back_step_by_step_also_after_a_reload(page, served, tmp_path):
    address = served()
    page.open(address)
    page.press(*"aks")
    page.saved()
    page.browser.refresh()
    page.ready()
    page.press("u", "u")
    assert page.saved() == "saved"
    assert page.decisions()[:3] == ["accept", "", ""]
    lines = read_corrections(tmp_path / "corrections.csv").lines
    assert [line.decision for line in lines] == ["accept", "keep", "skip", "undo", "undo"]
    page.press("k")  # on the card that was taken back last
    page.saved()
    assert page.decisions()[:3] == ["accept", "keep", ""]


def test_arrows_filters_and_numbers_agree(page, served):
    from selenium.webdriver.common.keys import Keys

    address = served()
    page.open(address)
    before = int(page.text("left"))
    page.press("a", Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.END)
    assert page.browser.execute_script("return document.querySelector('.card.selected').dataset.place") == str(N - 1)
    page.press(Keys.HOME)
    assert page.browser.execute_script("return document.querySelector('.card.selected').dataset.place") == "0"
    assert page.text("changed") == "1"
    assert int(page.text("left")) in (before - 1, before)
    page.browser.execute_script(
        "for (const [name, value] of [['given', '1'], ['least', '60'], ['status', 'open']])"
        "  document.getElementById(name).value = value;"
        "document.getElementById('filters').dispatchEvent(new Event('input', {bubbles: true}))"
    )
    shown = page.browser.execute_script(
        "return [...document.querySelectorAll('.card')].map(card => [card.querySelector('.given').textContent,"
        " parseInt(card.querySelector('.score').textContent.replace('> ', '')), card.dataset.decision])"
    )
    assert shown
    assert all(given == "cat" and score >= 60 and not made for given, score, made in shown)


def test_neighbours_of_the_suggested_class_are_shown(page, served):
    address = served()
    page.open(address)
    page.until("return document.querySelectorAll('#neighbours figure img').length >= 8")
    heading = page.browser.execute_script("return document.querySelector('#neighbours h2').textContent")
    assert page.text("suggested-name") in heading
    page.until("return [...document.querySelectorAll('#neighbours img')].every(image => image.naturalWidth === 8)")


def test_a_class_name_is_text_and_nothing_else(page, served):
    from selenium.common.exceptions import NoAlertPresentException

    address = served()
    page.open(address)
    page.press("l")
    page.press("<")
    names = page.browser.execute_script(
        "return [...document.querySelectorAll('#choices li')].map(li => li.textContent)"
    )
    assert names == [HOSTILE]
    in_cards = page.browser.execute_script(
        "return [...document.querySelectorAll('.names span')].map(span => span.textContent)"
    )
    assert HOSTILE in in_cards
    assert page.browser.execute_script("return document.querySelectorAll('img[onerror], img[src=x]').length") == 0
    with pytest.raises(NoAlertPresentException):
        _ = page.browser.switch_to.alert
    assert page.complaints() == []


def test_a_wrong_secret_is_refused(page, served):
    address = served()
    token = address.rstrip("/").rsplit("/", 1)[1]
    for wrong in (address.replace(token, "x" * len(token)), address.replace(f"{token}/", "")):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(wrong)
        assert refused.value.code == 403
        refused.value.close()
        page.browser.get(wrong)
        assert "open the whole address" in page.browser.find_element("tag name", "body").text


def test_the_policy_stops_a_script_that_was_put_into_the_page(page, served):
    address = served()
    page.open(address)
    ran = page.browser.execute_script(
        "const script = document.createElement('script'); script.textContent = 'window.broken = 1';"
        "document.body.append(script);"
        "const image = document.createElement('img'); image.src = 'http://127.0.0.1:9/x'; document.body.append(image);"
        "return window.broken"
    )
    assert ran is None
    assert any("Content Security Policy" in message for message in page.complaints())


def test_twenty_thousand_suspects_stay_a_handful_of_elements(page, served, tmp_path):
    from selenium.webdriver.common.keys import Keys

    many = tmp_path / "many"
    source = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    n = 20_000
    labels = rng.integers(2, size=n)
    with source.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "kind"])
        writer.writerows(
            [f"{x:.3f}", f"{y:.3f}", f"c{j}"] for (x, y), j in zip(rng.normal(size=(n, 2)), labels, strict=True)
        )
    split = open_source(str(source), label="kind")
    settings = {
        "data": {"source": str(source), "label": "kind"},
        "method": {"name": "ce"},
        "backbone": {"name": "tiny"},
        "train": {"epochs": 1, "batch_size": 2000, "device": "cpu"},
    }
    fit(split, settings, folder=many)
    rows = [(i, split.train.ids[i], f"c{labels[i]}", f"c{1 - labels[i]}", round(1 - i / n, 6)) for i in range(n)]
    write_rows(many / "audit", ("c0", "c1"), rows)
    address = served(many)
    page.open(address)
    page.browser.execute_script(
        "document.getElementById('least').value = '0';"
        "document.getElementById('filters').dispatchEvent(new Event('input', {bubbles: true}))"
    )
    assert page.text("shown") == "20,000 shown"
    assert page.text("left") == "10,000"
    for key in (Keys.END, Keys.PAGE_UP, Keys.HOME, Keys.PAGE_DOWN):
        page.press(key)
        assert page.browser.execute_script("return document.querySelectorAll('.card').length") < 100
    page.press(Keys.END, "k")
    assert page.saved() == "saved"
    last = read_corrections(tmp_path / "corrections.csv").lines[-1]
    assert (last.index, last.decision) == (n - 1, "keep")


def test_the_static_page_needs_no_server_and_hands_over_its_decisions(page, run, tmp_path):
    review(run, static=tmp_path / "review.html", top=30, device="cpu")
    address = (tmp_path / "review.html").as_uri()
    page.open(address)
    assert page.text("progress") == "0 of 30 decided"
    page.press(*"aksa", "u", "l")
    from selenium.webdriver.common.keys import Keys

    page.press(*"cat", Keys.ENTER)
    page.browser.refresh()
    page.ready()
    assert page.decisions()[:5] == ["accept", "keep", "skip", "relabel", ""]
    page.until("return document.querySelectorAll('#neighbours figure img').length > 0")
    page.until("return [...document.querySelectorAll('img')].every(image => image.naturalWidth > 0)")
    page.browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path / "got")}
    )
    page.browser.find_element("id", "download").click()
    got = tmp_path / "got" / "corrections.csv"
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(page.browser, 20).until(lambda _: got.is_file() and got.stat().st_size > 0)
    lines = read_corrections(got).lines
    assert [line.decision for line in lines] == ["accept", "keep", "skip", "accept", "undo", "relabel"]
    assert lines[-1].label == "cat"
    assert page.complaints() == []
    correct(open_source(str(run.parent / "data")).train, got)  # every line fits the data


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_differ_and_text_stands_out(page, served, scheme):
    address = served()
    page.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    page.open(address)
    colours = page.browser.execute_script(
        "const style = getComputedStyle(document.body); return [style.color, style.backgroundColor]"
    )
    ink, paper = (luminance(colour) for colour in colours)
    assert (ink < paper) == (scheme == "light")
    assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 7  # the contrast that WCAG asks of small text at AAA


def luminance(colour):
    """Relative luminance of ``rgb(r, g, b)``, as WCAG defines it."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
