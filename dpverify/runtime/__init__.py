"""What stands on nothing of the package: processes that can be ended, text and files from outside, the version."""
