"""The pages of docs/sources/: what the sources say, with numbers that are computed and judged here.

    python tools/computed            # all rows, some minutes
    python tools/computed --quick    # the rows that take no time; the others stay as they stand

Each page is written by people but for its tables and pictures; tests/test_sources.py computes the quick rows anew.
"""
