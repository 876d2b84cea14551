#!/usr/bin/env python3
"""Counts words."""
from collections import Counter


class Words:
    def __init__(self, text: str) -> None:
        self.counts = Counter(text.split())

    def top(self, n: int = 10) -> list[tuple[str, int]]:
        return self.counts.most_common(n)  # best first


if __name__ == "__main__":
    print(Words("a b a").top(1), 0x1F, 1e-3, None)
