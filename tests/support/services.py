"""What a test needs outside of Python: skipped where it is missing, required in CI."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def give_up(reason: str) -> NoReturn:
    """Skip the test for a reason; a failure in CI (environment variable CI), where all is there."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
