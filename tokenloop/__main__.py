"""``python -m tokenloop`` is the command line."""

from tokenloop.cli import main

main()
