"""Pytest plugin: under CI a skipped test is an error, unless the reason stands in the list below and is printed."""

import os

import pytest

# Beginnings of the reasons for which a test may be skipped under CI, and what then stays unchecked there.
ALLOWED = {
    "needs a CUDA device": "half precision and speed on a GPU",
    "needs TRANSFORMER_DATA": "training and scoring on the real corpora",
    "needs two CUDA devices": "training on several GPUs",
}


def reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def skips(session: pytest.Session) -> list[pytest.TestReport]:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    return reporter.stats.get("skipped", []) if reporter else []


def forbidden(session: pytest.Session) -> list[pytest.TestReport]:
    return [report for report in skips(session) if not reason(report).startswith(tuple(ALLOWED))]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if os.environ.get("CI") and forbidden(session):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config) -> None:
    session = terminalreporter._session
    for report in skips(session):
        terminalreporter.write_line(f"skipped: {report.nodeid}: {reason(report)}")
    if os.environ.get("CI") and forbidden(session):
        terminalreporter.write_line("Under CI nothing is skipped silently: see tools/no_silent_skips.py", red=True)
