"""What several tests use; no tests here."""
