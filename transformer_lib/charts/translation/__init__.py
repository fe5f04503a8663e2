"""A translation in the making: the film of its steps, and the search as a tree."""
