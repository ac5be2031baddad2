"""Text to unit vectors: `base` is the contract, `choose` the list, `cache` what each runs behind."""
