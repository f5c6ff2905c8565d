"""`python -m dpverify.cli`."""

from dpverify.cli import main

main()
