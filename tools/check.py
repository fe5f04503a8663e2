"""Everything `make test` checks, part by part, with the time each took against its budget.

`python -m tools.check --only pages` runs one part. A part that fails does not stop the others.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
CI = bool(os.environ.get("CI"))
# Over budget is said aloud; under CI, where machines are shared, a part fails at this many times its budget.
TOLERANCE_UNDER_CI = 2


@dataclass
class Outcome:
    """What became of the commands of one part."""

    commands_failed: list[str] = field(default_factory=list)
    tests: Counter = field(default_factory=Counter)  # passed, failed, skipped


@dataclass(frozen=True)
class Part:
    """A named check with its budget in minutes, on two cores with the environment ready."""

    name: str
    run: Callable[[Outcome], None]
    budget: float


def command(outcome: Outcome, *arguments: str | Path) -> None:
    """Run a command in the repository, with one thread a process; a failure is noted and the check goes on."""
    words = [str(argument) for argument in arguments]
    print(f"\n$ {Path(words[0]).name} {' '.join(words[1:])}", flush=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    if subprocess.run(words, cwd=ROOT, env=environment).returncode:
        outcome.commands_failed.append(" ".join([Path(words[0]).name, *words[1:]]))


def tool(outcome: Outcome, module: str, *arguments: str) -> None:
    command(outcome, sys.executable, "-m", f"tools.{module}", *arguments)


def pytest(outcome: Outcome, *arguments: str) -> None:
    """Run pytest and add its counts to the outcome; nothing is skipped silently under CI."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "-p", "tools.no_silent_skips", f"--junitxml={report}"]
        command(outcome, sys.executable, "-m", "pytest", *options, *arguments)
        if report.exists():
            outcome.tests += counts(report)


def counts(report: Path) -> Counter:
    """Passed, failed and skipped tests in a JUnit report."""
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    total, skipped = (sum(int(suite.get(key)) for suite in suites) for key in ("tests", "skipped"))
    failed = sum(int(suite.get(key)) for suite in suites for key in ("failures", "errors"))
    return Counter(passed=total - failed - skipped, failed=failed, skipped=skipped)


def sources(outcome: Outcome) -> None:
    """Export in step, notebooks clean, style, imports, spelling, one public address."""
    tool(outcome, "export", "--check")
    tool(outcome, "notebooks", "--check")
    tool(outcome, "address", "--check")
    command(outcome, BIN / "ruff", "check", ".")
    command(outcome, BIN / "ruff", "format", "--check", ".")
    command(outcome, BIN / "lint-imports")
    command(outcome, BIN / "codespell", ".")


def browser(outcome: Outcome) -> None:
    """A Chromium for the tests that look at figures and pages: installed when the machine has none."""
    tool(outcome, "browser")


def unit(outcome: Outcome) -> None:
    pytest(outcome, "tests", "-n", "2", "-m", "not pages and not clean_environment")


def chapters(outcome: Outcome) -> None:
    options = ["--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=300", "-n", "2", "--dist", "loadfile"]
    pytest(outcome, *options, "book")


def build(outcome: Outcome) -> None:
    tool(outcome, "site", "build")


def pages(outcome: Outcome) -> None:
    pytest(outcome, "tests", "-n", "2", "--dist", "loadfile", "-m", "pages")


def clean_environments(outcome: Outcome) -> None:
    pytest(outcome, "tests", "-n", "2", "--dist", "loadfile", "-m", "clean_environment")


PARTS = [
    Part("sources", sources, 1),
    Part("browser", browser, 5),
    Part("unit", unit, 12),
    Part("nbval", chapters, 4),
    Part("build", build, 5),
    Part("pages", pages, 6),
    Part("clean", clean_environments, 2),
]


@dataclass(frozen=True)
class Result:
    """One line of the closing table."""

    part: Part
    outcome: Outcome
    minutes: float

    def over_budget(self) -> bool:
        return self.minutes > self.part.budget

    def passed(self) -> bool:
        in_time = not CI or self.minutes <= TOLERANCE_UNDER_CI * self.part.budget
        return in_time and not self.outcome.commands_failed and not self.outcome.tests["failed"]

    def line(self) -> str:
        verdict = "ok" if self.passed() else "FAILED"
        late = "  OVER BUDGET" if self.over_budget() else ""
        return f"{self.part.name:<10} {self.minutes:6.1f} min of {self.part.budget:g}   {verdict}{late}"


def run(part: Part) -> Result:
    print(f"\n=== {part.name} ===", flush=True)
    outcome, start = Outcome(), time.monotonic()
    part.run(outcome)
    return Result(part, outcome, (time.monotonic() - start) / 60)


def report(results: list[Result]) -> bool:
    """Print the table, what failed, and the sums of the tests; True when all is well."""
    print("\n" + "\n".join(result.line() for result in results))
    for result in results:
        for words in result.outcome.commands_failed:
            print(f"failed: {words}")
    tests = sum((result.outcome.tests for result in results), Counter())
    others = sum(1 for result in results if not result.passed() and not result.outcome.tests["failed"])
    print(f"{tests['passed']} passed, {tests['failed'] + others} failed, {tests['skipped']} skipped", flush=True)
    return all(result.passed() for result in results)


def main() -> int:
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="run these parts")
    chosen = parser.parse_args().only
    return 0 if report([run(part) for part in PARTS if part.name in chosen]) else 1


if __name__ == "__main__":
    sys.exit(main())
