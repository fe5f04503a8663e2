"""Equation 1 and what is made of it: the softmax, query, key and value step by step, the sum of the heads."""
