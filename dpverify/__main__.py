"""`python -m dpverify`."""

from dpverify.cli import main

main()
