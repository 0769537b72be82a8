"""Small helpers that are not about tensors."""
