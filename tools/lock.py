"""Write `constraints.txt`: the version of every installed distribution, so that every machine gets the same ones."""

import subprocess
import sys
from pathlib import Path

CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"
HEAD = "# Written by `make lock`. The versions that the tests ran with; pyproject.toml states what is required.\n"


def pinned(freeze: str) -> list[str]:
    """Lines `name==version`, without this project and without a build's local suffix (torch's +cpu, +cu130)."""
    lines = [line for line in freeze.splitlines() if "==" in line and not line.startswith(("-e", "#"))]
    return sorted((line.split("+")[0] for line in lines), key=str.lower)


def main() -> None:
    command = [sys.executable, "-m", "pip", "freeze", "--exclude", "transformer-lib"]
    freeze = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    CONSTRAINTS.write_text(HEAD + "".join(f"{line}\n" for line in pinned(freeze)))


if __name__ == "__main__":
    main()
