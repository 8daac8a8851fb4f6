"""Makes the miniature: a Llama small enough to be trained in minutes, on stories and lists of a small grammar."""
