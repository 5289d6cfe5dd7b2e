// SPDX-License-Identifier: Apache-2.0
#include "tests/model/architectures.hpp"

namespace architectures {
namespace {

void convolution(Tensors& out, std::int64_t output, std::int64_t input, std::int64_t kernel) {
  out.push_back({output, input * kernel * kernel, true});
  out.push_back({output, 1, false});  // batch normalisation: scale
  out.push_back({output, 1, false});  // and shift
}

void linear(Tensors& out, std::int64_t output, std::int64_t input) {
  out.push_back({output, input, true});
  out.push_back({output, 1, false});
}

void layer_norm(Tensors& out, std::int64_t size) {
  out.push_back({size, 1, false});
  out.push_back({size, 1, false});
}

}  // namespace

Tensors bottleneck_resnet(const std::vector<int>& blocks, int stem_kernel, int classes) {
  Tensors out;
  convolution(out, 64, 3, stem_kernel);
  std::int64_t input = 64;
  std::int64_t width = 64;
  for (const int count : blocks) {
    for (int block = 0; block < count; ++block) {
      convolution(out, width, input, 1);
      convolution(out, width, width, 3);
      convolution(out, 4 * width, width, 1);
      if (block == 0) {
        convolution(out, 4 * width, input, 1);  // the shortcut of the first block of a stage
      }
      input = 4 * width;
    }
    width *= 2;
  }
  linear(out, classes, input);
  return out;
}

Tensors cifar_resnet18(int classes) {
  Tensors out;
  convolution(out, 64, 3, 3);
  std::int64_t input = 64;
  for (const std::int64_t width : {64, 128, 256, 512}) {
    for (int block = 0; block < 2; ++block) {
      convolution(out, width, input, 3);
      convolution(out, width, width, 3);
      if (input != width) {
        convolution(out, width, input, 1);
      }
      input = width;
    }
  }
  linear(out, classes, 512);
  return out;
}

Tensors bert(int layers, int hidden, int vocabulary) {
  Tensors out;
  for (const std::int64_t rows : {vocabulary, 512, 2}) {  // words, positions, segments
    out.push_back({rows, hidden, true});
  }
  layer_norm(out, hidden);
  for (int layer = 0; layer < layers; ++layer) {
    for (int projection = 0; projection < 4; ++projection) {
      linear(out, hidden, hidden);
    }
    layer_norm(out, hidden);
    linear(out, 4 * hidden, hidden);
    linear(out, hidden, 4 * hidden);
    layer_norm(out, hidden);
  }
  linear(out, hidden, hidden);  // pooler
  linear(out, 2, hidden);
  return out;
}

}  // namespace architectures
