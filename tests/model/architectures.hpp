// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/workload.hpp"

// Parameter tensors of well-known networks, written down from their papers and reference code and
// not from the profiles, so that tests have a second source. Order of declaration.

namespace architectures {

using Tensors = std::vector<payoff::ParameterTensor>;

// Bottleneck ResNet (He et al. 2016, table 1) with batch normalisation, as torchvision declares it.
// `blocks` of ResNet-50 are 3, 4, 6, 3. CIFAR variants (kuangliu/pytorch-cifar) have a 3x3 stem.
[[nodiscard]] Tensors bottleneck_resnet(const std::vector<int>& blocks, int stem_kernel,
                                        int classes);

// Basic-block ResNet-18 of kuangliu/pytorch-cifar: 3x3 stem.
[[nodiscard]] Tensors cifar_resnet18(int classes);

// The other networks of Accordion (uw-mad-dash/Accordion at 82046df), for images of 32 x 32: VGG-19
// of chengyangfu/pytorch-vgg-cifar10, DenseNet of growth 12, SE-ResNet-18 with 516 last channels.
[[nodiscard]] Tensors cifar_vgg19(int classes);
[[nodiscard]] Tensors cifar_densenet(int classes);
[[nodiscard]] Tensors cifar_se_resnet18(int classes);

// BERT encoder (Devlin et al. 2019) with pooler and a classifier of two classes.
[[nodiscard]] Tensors bert(int layers, int hidden, int vocabulary);

}  // namespace architectures
