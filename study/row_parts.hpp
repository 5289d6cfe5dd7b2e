// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "study/row_experiment.hpp"

// The parts of row_experiment: each reads its fields of a row and adds what is in the way to
// `reasons` and what it had to assume to `assumptions`.

namespace payoff {

// Horovod built without NCCL: MPI reduces and gathers on the hosts.
[[nodiscard]] inline bool over_mpi(const TrainingRow& row) {
  return row.software && row.software->find("Horovod MPI") != std::string::npos;
}

// Machines of their own, or processes beside the workers, sum the gradients between nodes. Beside
// the workers they take 2 (n - 1) / n of the gradients through each NIC and each way, as a ring of
// n nodes does; n machines of their own take them once (Jiang et al. 2020, A Unified Architecture
// for Accelerating Distributed DNN Training in Heterogeneous GPU/CPU Clusters, OSDI '20, section
// 2).
[[nodiscard]] inline bool sums_on_servers(const TrainingRow& row) {
  return row.layout.dp_collective.value_or("all-reduce") == "ps" ||
         (row.software && row.software->starts_with("BytePS"));
}

// The profile of the GPU that a row names; the name itself where that leaves nothing open.
[[nodiscard]] std::string gpu_profile(const std::string& name);

// GPUs of the usual node with this GPU, and whether there are nodes of so many, by the boards that
// it comes on; cards come in any number.
[[nodiscard]] int board_of(const std::string& profile);
[[nodiscard]] bool comes_by(const std::string& profile, int gpus_per_node);
// Whether the vendor's own systems with this GPU say which NICs such nodes have.
[[nodiscard]] bool has_usual_nics(const std::string& profile);

// What a table of names and values has for a name.
template <typename Table>
auto look_up(const Table& table, std::string_view name) {
  using Value = std::decay_t<decltype(table.front().second)>;
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == table.end() ? std::optional<Value>() : std::optional<Value>(found->second);
}

class RowReader {
 public:
  RowReader(const TrainingRow& row, const RowCatalogue& catalogue, RowExperiment& result)
      : row_(row), catalogue_(catalogue), result_(result) {}

  // The profile of the software stack that ran the row, by its source and the words it uses.
  [[nodiscard]] std::string stack() const;
  [[nodiscard]] Cluster cluster() const;
  [[nodiscard]] Model model(const Training& training) const;
  [[nodiscard]] ParallelLayout layout() const;
  [[nodiscard]] Training training(const std::string& stack, const ParallelLayout& layout) const;

 private:
  void reason(std::string text) const { result_.reasons.push_back(std::move(text)); }
  void assume(std::string text) const { result_.assumptions.push_back(std::move(text)); }

  template <typename T>
  [[nodiscard]] T stated_or(const std::optional<T>& field, T otherwise,
                            const std::string& what) const {
    if (field) {
      return *field;
    }
    assume(what);
    return otherwise;
  }

  [[nodiscard]] Architecture architecture() const;
  [[nodiscard]] std::string stack_by_generation(const std::string& words) const;
  [[nodiscard]] std::string gpu_name() const;
  [[nodiscard]] std::optional<double> stated_number(const std::string& unit) const;
  void vary(Gpu& gpu) const;
  [[nodiscard]] std::string fabric_name(const Cluster& cluster) const;
  void network(Cluster& cluster) const;
  [[nodiscard]] Workload transformer_xl(const Training& training) const;
  [[nodiscard]] Workload face_network(const std::string& name, const Training& training) const;
  [[nodiscard]] Workload convnet(const std::string& name, const Training& training) const;
  [[nodiscard]] Model recommender(const Training& training) const;
  [[nodiscard]] TransformerShape transformer() const;
  [[nodiscard]] TransformerShape stated_counts(const std::optional<int>& sequence) const;
  [[nodiscard]] TransformerShape stated_mixture(const std::string& name) const;
  [[nodiscard]] TransformerShape vision_transformer() const;
  void llama_details(TransformerShape& shape) const;
  [[nodiscard]] TransformerShape mixture() const;
  void transformer_widths(TransformerShape& shape) const;
  void family_details(TransformerShape& shape) const;
  void refuse_unsupported_layout() const;
  [[nodiscard]] bool divide_model(ParallelLayout& layout) const;
  [[nodiscard]] bool divide_batch(int batch, ParallelLayout& layout) const;
  void shard(ParallelLayout& layout) const;
  void schedule_pipeline(ParallelLayout& layout) const;
  [[nodiscard]] bool sequence_parallel() const;
  void overlap_tensor_parallel(ParallelLayout& layout) const;
  [[nodiscard]] std::optional<Precision> precision() const;
  [[nodiscard]] Precision gradient(const std::string& stack, const ParallelLayout& layout,
                                   Precision precision) const;

  const TrainingRow& row_;
  const RowCatalogue& catalogue_;
  RowExperiment& result_;
};

}  // namespace payoff
