"""What a mechanism made of parts comes to: its parts, and the neighbours that they share."""
