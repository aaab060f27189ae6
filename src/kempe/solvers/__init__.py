"""Compiled solvers: sparse factorisation, Newton, continuation. They know nothing of mechanics."""
