// SPDX-License-Identifier: Apache-2.0
#include "tests/model/architectures.hpp"

#include <utility>

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

Tensors cifar_vgg19(int classes) {
  Tensors out;
  std::int64_t input = 3;
  const auto biased = [&](std::int64_t width) {
    convolution(out, width, input, 3);
    out.push_back({width, 1, false});
    input = width;
  };
  for (const auto& [width, count] : {std::pair{64, 2}, {128, 2}, {256, 4}, {512, 4}, {512, 4}}) {
    for (int layer = 0; layer < count; ++layer) {
      biased(width);
    }
  }
  linear(out, 512, 512);
  linear(out, 512, 512);
  linear(out, classes, 512);
  return out;
}

Tensors cifar_densenet(int classes) {
  constexpr std::int64_t growth = 12;
  Tensors out;
  std::int64_t channels = 2 * growth;
  out.push_back({channels, std::int64_t{3} * 3 * 3, true});
  int blocks_left = 4;
  for (const int layers : {6, 12, 24, 16}) {
    for (int layer = 0; layer < layers; ++layer) {
      layer_norm(out, channels);  // scale and shift, as of any norm
      convolution(out, 4 * growth, channels, 1);
      out.push_back({growth, 4 * growth * 3 * 3, true});
      channels += growth;
    }
    layer_norm(out, channels);
    if (--blocks_left > 0) {
      out.push_back({channels / 2, channels, true});
      channels /= 2;
    }
  }
  linear(out, classes, channels);
  return out;
}

Tensors cifar_se_resnet18(int classes) {
  Tensors out;
  const auto biased = [&](std::int64_t output, std::int64_t input, std::int64_t kernel) {
    convolution(out, output, input, kernel);
    out.push_back({output, 1, false});
  };
  biased(64, 3, 3);
  std::int64_t input = 64;
  for (const std::int64_t width : {64, 128, 256, 516}) {
    for (int block = 0; block < 2; ++block) {
      biased(width, input, 3);
      biased(width, width, 3);
      if (input != width) {
        biased(width, input, 1);
      }
      linear(out, width / 16, width);
      linear(out, width, width / 16);
      input = width;
    }
  }
  linear(out, classes, input);
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
