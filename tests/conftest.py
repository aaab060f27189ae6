"""Shared set-up: helpers beside the tests can be imported; missing tools are said loudly."""

import os
import shutil
import sys
from pathlib import Path

from hypothesis import settings

for folder in ("analysis", "hostile", "references", "nonsmooth"):
    sys.path.insert(0, str(Path(__file__).parent / folder))

# The same examples every time, so that a red run means a change; KEMPE_EXPLORE=1 draws new ones.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("explore" if os.environ.get("KEMPE_EXPLORE") else "fixed")


def pytest_terminal_summary(terminalreporter):
    if not all(map(shutil.which, ("/usr/bin/chromium", "/usr/bin/chromedriver"))):
        terminalreporter.section("BROWSER TESTS WERE SKIPPED", sep="!", red=True, bold=True)
        terminalreporter.line("THE HTML REPORT WAS NOT TESTED IN A BROWSER: CHROMIUM IS MISSING.", red=True)
        terminalreporter.line("As root: apt-get update && apt-get install -y chromium chromium-driver", red=True)
