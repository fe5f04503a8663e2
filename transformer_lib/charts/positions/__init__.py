"""The positional encoding: its waves, its dot products and its rotation."""
