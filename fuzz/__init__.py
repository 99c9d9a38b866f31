"""Coverage-guided fuzzing with atheris, and what it starts from."""
