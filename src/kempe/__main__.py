"""``python -m kempe`` is the command line."""

from kempe.cli import main

main()
