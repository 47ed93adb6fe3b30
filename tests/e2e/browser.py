"""Debian's chromium, driven from the tests; where it is missing, they say so and are skipped.

``apt-get install chromium chromium-driver`` and ``pip install selenium`` bring what is needed.
"""

import shutil

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)
SIZE = (1280, 900)
ONLINE = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """One browser for all tests of the process; they use it through ``browser``."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install selenium")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no chromium with its driver here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.set_capability("unhandledPromptBehavior", "ignore")  # a test must see the alert that should not be there
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    yield opened
    opened.quit()


@pytest.fixture
def browser(chromium):
    """A selenium driver with an empty page: light, on screen, online, 1280 x 900, its console log empty.

    ``browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value":
    "dark"}]})`` asks for dark, ``{"media": "print"}`` for paper; ``browser.get_log("browser")`` is what the page wrote.
    """
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    chromium.execute_cdp_cmd("Network.enable", {})
    chromium.execute_cdp_cmd("Network.emulateNetworkConditions", ONLINE)
    chromium.set_window_size(*SIZE)
    chromium.get("about:blank")
    chromium.get_log("browser")
    return chromium
