"""What is learned of a site: the tree, its measures, what is noise, page clusters, drift."""
