"""Quality: models at fresh points, what makes them stale, and how they differ."""
