// SPDX-License-Identifier: Apache-2.0
#include "model/convnet.hpp"

#include <utility>

namespace payoff {
namespace {

Bytes tensor_bytes(std::int64_t channels, double positions, Bytes activation) {
  return real(channels) * positions * activation;
}

class RowTranslator {
 public:
  RowTranslator(const ConvnetRow& row, Bytes activation, bool first)
      : row_(row),
        positions_(real(row.height) * real(row.width)),
        output_(tensor_bytes(row.out, positions_, activation)),
        input_(tensor_bytes(row.in, positions_ * real(row.stride) * real(row.stride), activation)),
        first_(first) {
    layer_.name = row.name;
    layer_.boundary_per_sample = input_;
  }

  Layer translate() {
    switch (row_.op) {
      case ConvnetOperator::convolution:
        convolution();
        break;
      case ConvnetOperator::linear:
        linear();
        break;
      case ConvnetOperator::norm:
        norm();
        break;
      case ConvnetOperator::elementwise:
        elementwise();
        break;
      case ConvnetOperator::add:
        add();
        break;
      case ConvnetOperator::pool:
        pool();
        break;
    }
    layer_.selective_activation_per_sample = layer_.activation_per_sample;
    return std::move(layer_);
  }

 private:
  void product(OperatorKind kind, std::int64_t window) {
    Operator op{.kind = kind};
    op.rows_per_sample = positions_;
    op.columns = real(row_.out / row_.groups);
    op.depth = real(row_.in / row_.groups * window);
    op.batch_per_sample = real(row_.groups);
    op.window = real(window);
    op.unit_stride = row_.stride == 1;
    op.bytes_per_sample = input_ + output_;
    op.input_gradient = !first_;
    layer_.forward.push_back(op);
    layer_.parameters.push_back({row_.out, row_.in / row_.groups * window, true});
    if (row_.bias) {
      // Fused into the product forward; backward reads the gradient once to sum it.
      layer_.forward.push_back(uncast_pass(Bytes{}, output_));
      layer_.parameters.push_back({row_.out, 1, false});
    }
    layer_.activation_per_sample = output_;
  }

  void convolution() { product(OperatorKind::convolution, row_.kernel * row_.kernel); }
  void linear() { product(OperatorKind::gemm, 1); }

  // Forward: statistics, then values. Backward: the two sums, then the gradient of the input.
  void norm() {
    layer_.forward.push_back(uncast_pass(3 * output_, 5 * output_));
    layer_.parameters.push_back({row_.out, 1, false});
    layer_.parameters.push_back({row_.out, 1, false});
    layer_.activation_per_sample = output_;
  }

  // In place: what it writes is what the next row reads. A fused norm applies it on the way.
  void elementwise() { layer_.forward.push_back(uncast_pass(2 * output_, 3 * output_, 1, 0)); }

  // Backward: the gradients of the two branches meet where they forked.
  void add() { layer_.forward.push_back(uncast_pass(3 * output_, 3 * output_, 1, 0)); }

  void pool() {
    layer_.forward.push_back(uncast_pass(input_ + output_, input_ + output_));
    layer_.activation_per_sample = output_;
  }

  const ConvnetRow& row_;
  double positions_;
  Bytes output_;
  Bytes input_;
  bool first_;
  Layer layer_;
};

}  // namespace

Workload convnet_workload(const std::string& name, const std::vector<ConvnetRow>& rows,
                          Bytes activation) {
  Workload workload;
  workload.name = name;
  workload.sample_name = "image";
  bool first = true;
  for (const ConvnetRow& row : rows) {
    workload.layers.push_back(RowTranslator(row, activation, first).translate());
    first = false;
  }
  return workload;
}

}  // namespace payoff
