"""Style trees: how they grow and merge, their measures, what is noise."""
