"""Rules about stated guarantees."""
