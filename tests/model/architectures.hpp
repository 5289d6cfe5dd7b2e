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

// BERT encoder (Devlin et al. 2019) with pooler and a classifier of two classes.
[[nodiscard]] Tensors bert(int layers, int hidden, int vocabulary);

}  // namespace architectures
