#!/bin/bash
# run.sh PAYOFF OUTPUT-FOLDER: what `make demo` runs.
set -euo pipefail
payoff=$1
output=$2

mkdir -p "$output"
"$payoff" --version
