"""Everything around the paper's model that makes it usable: checkpoints, recipes, translation, the command line."""
