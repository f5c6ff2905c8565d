"""What `import dpverify` offers, on top of all floors: nothing in the package imports it.

One thing a file, each loaded when it is asked for, so that a claim is judged without what audits need. The classes below the report know
nothing of pages; those that are given to people are made here.
"""
