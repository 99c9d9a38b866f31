"""Page clusters: the model of one, its training, and its pages in the database."""
