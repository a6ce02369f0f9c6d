"""`python -m functions.local`: the `headrace` command where it is not on the path."""

from functions.local.main import main

main()
