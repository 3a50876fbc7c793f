"""Results as text for a model (`model`), as text for people (`terminal`), and what both share (`plain`)."""
