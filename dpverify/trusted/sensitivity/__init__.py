"""How far the answers of neighbours are apart."""
