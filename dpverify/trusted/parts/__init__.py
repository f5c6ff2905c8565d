"""What a combinator comes to: its parts, and the neighbours that they share."""
