// SPDX-License-Identifier: Apache-2.0
#include "model/optimizer.hpp"

namespace payoff {

OptimizerCost optimizer_cost(Optimizer optimizer, Precision precision, Precision gradient) {
  const Bytes moments = (optimizer == Optimizer::adam           ? 2
                         : optimizer == Optimizer::sgd_momentum ? 1
                                                                : 0) *
                        4_B;
  const bool master = element_size(precision) < 4_B;
  const Bytes copy = master ? 4_B : 0_B;
  // Moments and the 32-bit parameter are read and written, the gradient is read, and a 16-bit
  // parameter is written besides.
  const Bytes traffic =
      2 * moments + 2 * 4_B + element_size(gradient) + (master ? element_size(precision) : 0_B);
  return {moments + copy, traffic};
}

}  // namespace payoff
