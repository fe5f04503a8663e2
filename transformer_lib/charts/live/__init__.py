"""Figures with a kernel: the reader's own sentence, own model, own choice of heads."""
