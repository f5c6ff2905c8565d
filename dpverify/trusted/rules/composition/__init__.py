"""Rules about mechanisms made of parts."""
