"""Attention maps: the explorer, all heads at a glance, what is lost without a head, a head in training."""
