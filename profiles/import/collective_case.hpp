// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/measured_collective.hpp"
#include "profiles/import/nccl_tables.hpp"
#include "profiles/read_hardware.hpp"

// A table of nccl-tests as a case of the model: its normalised fields name profiles of the GPU, the
// fabric and the network. What no table states is filled in and can be read here: the CPU is that
// of the shipped clusters with the same GPU, fabric and network, else Intel; an NCCL version that
// is not stated is that of the GPU's time (2.12 before Hopper, 2.23 for Hopper, the newest later).
// Times are in place where the table has them: the out-of-place run comes first and often pays for
// set-up.

namespace payoff {

// The profile of the links that a row of published measurements names (`intra`), whose vocabulary
// has one bridge: that of Turing cards, with a sixth of the bandwidth, is another profile.
[[nodiscard]] std::string fabric_profile(const std::string& intra, const Gpu& gpu);

class CollectiveCases {
 public:
  // Reads the parts from profiles, each once. Problems in them are left in context.diagnostics.
  explicit CollectiveCases(const ReadContext& context) : context_(context) {}

  // A case, or the reasons why the table cannot be expressed: each names the missing or
  // unsupported field.
  struct Result {
    std::optional<MeasuredCollective> measured;
    std::vector<std::string> reasons;
  };
  [[nodiscard]] Result from(const NcclTable& table);

 private:
  // GPU, fabric and network, or the reasons why they are not known.
  void take_parts(const NcclTable& table, Cluster& cluster, std::vector<std::string>& reasons);
  [[nodiscard]] CpuVendor cpu_of(const NcclTable& table, const std::string& network);

  ReadContext context_;
  std::map<std::string, std::optional<Gpu>> gpus_;
  std::map<std::string, std::optional<Fabric>> fabrics_;
  std::map<std::string, std::optional<Network>> networks_;
  std::map<std::string, CpuVendor> cpus_;  // by "gpu family/fabric/network"
  bool cpus_known_{};
};

// "2.23.4" is the release 2.23; nothing for a text that is no version.
[[nodiscard]] std::optional<NcclRelease> nccl_release(const std::string& version);

}  // namespace payoff
