"""Shared set-up: helpers beside the tests can be imported; missing tools are said loudly."""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "analysis"))


def pytest_terminal_summary(terminalreporter):
    if not all(map(shutil.which, ("/usr/bin/chromium", "/usr/bin/chromedriver"))):
        terminalreporter.section("BROWSER TESTS WERE SKIPPED", sep="!", red=True, bold=True)
        terminalreporter.line("THE HTML REPORT WAS NOT TESTED IN A BROWSER: CHROMIUM IS MISSING.", red=True)
        terminalreporter.line("As root: apt-get update && apt-get install -y chromium chromium-driver", red=True)
