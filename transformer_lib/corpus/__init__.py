"""Text: the generated lab corpus, corpora from elsewhere, the tokenizer, and the files they live in."""
