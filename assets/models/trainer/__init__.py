"""Trains the miniature: a Llama small enough to train in minutes, on the stories of a small grammar and on lists."""
