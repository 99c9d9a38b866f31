"""Loggers in whose lines nothing from elsewhere steers a terminal, or looks like another line."""

from __future__ import annotations

import logging

from noiseclean_scrapy.page.characters import inert


def get_logger(name: str) -> logging.Logger:
    """The logger of a module of ours: what it is given is text, on the one line."""
    logger = logging.getLogger(name)
    logger.addFilter(_make_inert)
    return logger


def _make_inert(record: logging.LogRecord) -> bool:
    record.msg = _on_one_line(record.msg)
    if isinstance(record.args, tuple):
        record.args = tuple(map(_on_one_line, record.args))
    if record.exc_info and not record.exc_text:
        record.exc_text = inert(logging.Formatter().formatException(record.exc_info))
    return True


def _on_one_line(value: object) -> object:
    """The value as it is, or its text where that steers a terminal or has several lines."""
    if isinstance(value, (int, float)):
        return value
    try:
        text = str(value)
    except Exception:  # whatever its class does; the handlers report it
        return value
    line = inert(" ".join(text.splitlines()))
    return value if line == text else line
