// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "calibrate/relative_fit.hpp"
#include "model/hardware.hpp"
#include "model/measured_collective.hpp"

// Tables whose links share one set of coefficients (calibrate/link_parameters.hpp), as rows of a
// relative fit: a table counts by size band, not by the number of its rows.

namespace payoff {

// The coefficients of all parameters: of those with an sd what `solved` has, in their order, of the
// others the mean.
[[nodiscard]] std::vector<double> all_coefficients(std::span<const Prior> priors,
                                                   std::span<const double> solved);

// To tables, the laws of their fabrics by name, where they are known.
void set_fabric_laws(const std::map<std::string, LinkLaw>& laws,
                     std::vector<MeasuredCollective>& tables);

class LinkProblem {
 public:
  // Which law of a table's cluster is fitted.
  enum class Side { fabric, network };

  LinkProblem(Side side, std::vector<MeasuredCollective> tables);

  // The parameters around `priors` (those with sd 0 stay), then one nuisance: what launches of
  // other GPUs' kernels take.
  [[nodiscard]] RelativeFit solve(const std::vector<Prior>& priors) const;
  [[nodiscard]] const std::vector<MeasuredCollective>& tables() const { return tables_; }

 private:
  [[nodiscard]] std::vector<double> predict(const std::vector<Prior>& priors,
                                            std::span<const double> x) const;

  Side side_;
  std::vector<MeasuredCollective> tables_;
  RelativeRows rows_;
};

}  // namespace payoff
