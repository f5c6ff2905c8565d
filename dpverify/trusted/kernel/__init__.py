"""What every verdict rests on: claims, certificates, exact comparison, proofs, judgements."""
