"""Scores what ai.mjs printed: CHARTS KIND PATH, its lines on standard input."""
import json, sys

import charts

folder, kind, path = sys.argv[1:]
known = {chart.name: chart for chart in charts.load(folder, kind)}
score = charts.Score(path, kind)
for line in sys.stdin:
    answer = json.loads(line)
    if "error" in answer:
        sys.exit(f"{path}: {answer['error']}")
    score.add(known[answer["file"]], answer["said"])
print(score.line())
