#!/bin/bash
set -euo pipefail
for f in *.png; do
  echo "seen: ${f%.png}" | tee -a log.txt
done
if [[ -n "${HOME:-}" ]]; then exit 0; fi
