"""Rules of inference, one theorem a file."""
