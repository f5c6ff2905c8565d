"""Python functions as mechanisms: the text of a function, which is read and never run, to the table of a kind that exists."""
