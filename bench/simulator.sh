#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every target of the design that names the simulator, and SimGrid's times for the same ring, in one
# run: ratios of it hold on a busy machine, too. SimGrid's 4,096 ranks take 5 to 10 minutes each.
#
#   bench/simulator.sh [BUILD [RANKS_OF_SIMGRID...]]     build, and 64 512 1024 4096

set -euo pipefail

bench=${1:-build}/bench
ranks=("${@:2}")
((${#ranks[@]})) || ranks=(64 512 1024 4096)

echo "$(grep -m1 'model name' /proc/cpuinfo | sed 's/.*: //'), $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg)"
"$bench/ring_bench"
"$bench/step_bench"
"$bench/simgrid_ring_bench" "${ranks[@]}"
echo "load $(cut -d' ' -f1-3 /proc/loadavg)"
