"""A headless Chromium for the tests that need one (tests/conftest.py says loudly when there is none)."""

import shutil

import pytest

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --enable-unsafe-swiftshader --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync --window-size=1280,900"
)
MISSING = not all(map(shutil.which, (CHROMIUM, DRIVER)))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A headless Chromium that notes what its console and its network see."""
    if MISSING:
        pytest.skip("BROWSER TEST SKIPPED: chromium or chromedriver is missing")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in [*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()
