"""The report in a real browser: it stands alone, runs nothing, and can be read in light, in dark and on paper."""

import base64
import csv

import numpy as np
import pytest
from tests.unit.review.audits import write_rows

pytestmark = pytest.mark.slow

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "</style><svg onload=alert(3)>")


@pytest.fixture
def report(anchored, tmp_path):
    """The report of a run whose classes are markup, with an audit."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    x = rng.normal(size=(300, 4)) + 2 * np.eye(4)[y]
    with (tmp_path / "t.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["<b>a</b>", "b", "c", "d", "kind"])
        writer.writerows([*row, HOSTILE[c]] for row, c in zip(x.tolist(), y, strict=True))
    for out in ("first", "run"):
        done = anchored("fit", "t.csv", "--label", "kind", "--out", out, "--epochs", 3, "--seed", len(out))
        assert done.code == 0, done.err
        assert f"the report is in {out}/report.html" in done.out
    rows = [(i, i, HOSTILE[i % 3], HOSTILE[(i + 1) % 3], 0.9) for i in range(9)]
    write_rows(tmp_path / "run" / "audit", sorted(HOSTILE), rows)
    done = anchored("report", "run")
    assert done.code == 0, done.err
    return tmp_path / "run" / "report.html"


def alert_is_shown(browser):
    from selenium.common.exceptions import NoAlertPresentException

    try:
        return bool(browser.switch_to.alert.text)
    except NoAlertPresentException:
        return False


def background(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


def test_it_stands_alone_and_runs_nothing(report, browser):
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0,
    })  # fmt: skip
    browser.get(report.as_uri())
    assert not alert_is_shown(browser)
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.execute_script("return document.scripts.length") == 0
    assert browser.execute_script("return document.querySelectorAll('main svg').length") >= 6
    shown = browser.execute_script("return document.body.textContent")
    for name in HOSTILE:
        assert name in shown
    assert browser.find_element("css selector", "#comparison .lead").text.startswith("Compared with first")
    assert len(browser.find_elements("css selector", ".card")) == 9


def test_nothing_hangs_over_the_edge_even_on_a_phone(report, browser):
    for width in (1280, 500):
        browser.set_window_size(width, 900)
        browser.get(report.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def test_light_dark_and_paper_have_colours_of_their_own(report, browser):
    browser.get(report.as_uri())
    light = background(browser)
    dark_asked = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark_asked)
    dark = background(browser)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", **dark_asked})
    paper = background(browser)
    assert len({light, dark, paper}) == 3
    assert paper == "rgb(255, 255, 255)"
    text = browser.execute_script("return getComputedStyle(document.querySelector('.chart svg text')).fill")
    assert text != "rgb(1, 1, 1)"  # the stand-in of the drawing has become a colour of the page


def test_it_prints(report, browser):
    browser.get(report.as_uri())
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
