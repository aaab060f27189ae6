"""The machinery of a run: set-up, methods and integrators, checkpoints, batches, explaining failures."""
