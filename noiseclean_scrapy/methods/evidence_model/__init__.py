"""What the method `evidence` reads from pages, and the small model that weighs it."""
