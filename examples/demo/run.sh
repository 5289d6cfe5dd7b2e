#!/bin/bash
# run.sh PAYOFF OUTPUT-FOLDER: what `make demo` runs. The question that the field asked first: do
# these compression methods beat the uncompressed, overlapped, bucketed baseline?
#   ResNet-50, ResNet-101 and BERT on 4 to 96 V100s at 10 Gb/s, 4 GPUs a node;
#   a 7B and a 175B transformer on 64 to 1,024 A100s and H100s.
# Prints one table with its verdict for each job and size, and draws the speedup of every method
# and of the best uncompressed remedy against GPUs and against bandwidth, break-evens marked.
set -euo pipefail
payoff=$1
output=$2
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

mkdir -p "$output"
"$payoff" --version

# predict NAME NODES...: the job on each number of nodes; dp takes the GPUs that tp and pp leave.
predict() {
  local name=$1 nodes
  shift
  for nodes in "$@"; do
    echo
    "$payoff" predict "$examples/$name/experiment.yaml" --nodes "$nodes" --dp "$(replicas "$name" "$nodes")"
  done
}

replicas() {
  case $1 in
    *llama2-7b*) echo $(($2 * 2)) ;;   # 8 GPUs a node, tp 4
    *gpt3-175b*) echo $(($2 / 8)) ;;   # tp 8, pp 8
    *) echo $(($2 * 4)) ;;             # 4 GPUs a node
  esac
}

# draw NAME FEWEST-GPUS MOST-GPUS LOWEST-RATE HIGHEST-RATE
draw() {
  local name=$1 format
  for format in png svg; do
    "$payoff" plot "$examples/$name/experiment.yaml" --x gpus --from "$2" --to "$3" -o "$output/$name-gpus.$format"
    "$payoff" plot "$examples/$name/experiment.yaml" --x bandwidth --from "$4" --to "$5" -o "$output/$name-bandwidth.$format"
  done
}

{
  for name in 01-resnet50-v100 02-resnet101-v100 03-bert-v100; do
    predict "$name" 1 2 4 8 16 24
  done
  predict 04-llama2-7b-a100 8 32 128
  predict 05-gpt3-175b-a100 16 32 64 128
  predict 06-llama2-7b-h100 8 32 128
  predict 07-gpt3-175b-h100 16 32 64 128
} | tee "$output/predictions.txt"

for name in 01-resnet50-v100 02-resnet101-v100 03-bert-v100; do
  draw "$name" 4 96 '1 Gb/s' '100 Gb/s'
done
for name in 04-llama2-7b-a100 05-gpt3-175b-a100 06-llama2-7b-h100 07-gpt3-175b-h100; do
  draw "$name" 64 1024 '5 Gb/s' '800 Gb/s'
done
echo
echo "tables: $output/predictions.txt; plots: $output/*.png, $output/*.svg"
