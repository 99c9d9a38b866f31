"""Benchmarks, each one command; the corpora are not part of the repository."""
