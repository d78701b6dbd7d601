"""Generation: which points are sampled for a model, and when it is enough."""
