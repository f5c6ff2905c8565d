"""The theories: each with its rules, one theorem a file, and its library."""
