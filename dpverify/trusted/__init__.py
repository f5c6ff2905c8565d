"""What must be believed, and nothing else: the standard library and flint alone are below it."""
