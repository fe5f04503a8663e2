"""Figure 1 of the paper: a map of the book, and the way of one sentence through it."""
