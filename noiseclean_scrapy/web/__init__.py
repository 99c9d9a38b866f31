"""The workbench: what crawls have stored, seen, searched and corrected in a browser."""
