"""Questions about a family of mechanisms: sensitivity and optimal design."""
