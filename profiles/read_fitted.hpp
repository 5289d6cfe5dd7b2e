// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/compression.hpp"
#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "profiles/fact.hpp"
#include "profiles/read_hardware.hpp"

// The laws that `payoff calibrate fit` wrote (profiles/fitted), for one piece of hardware each:
//   network.yaml   fabric: {NAME: {...}}, network: {NAME: {...}}, host: {one_process: {...}}
//   compute.yaml   gpu: {NAME: {...}}, software: {NAME: {...}}
//   codecs.yaml    implementation: {framework_ops: {...}, library: {...}, fused: {...}}
// Every number has a value, a citation and usually its relative standard deviation; `fits` beside
// them tells how well the laws fit and is not read here. Hardware without an entry is an error: a
// law is fitted or said to be assumed, never absent. Facts are named "law. ...".

namespace payoff {

// Whose entry is read. A law that is borrowed from similar hardware (`law_of` in a profile) is an
// assumption, whatever it was fitted to.
struct LawEntry {
  std::string name;
  bool borrowed{};
};

[[nodiscard]] LinkLaw read_fabric_law(const LawEntry& entry, const ReadContext& context,
                                      Facts& facts);
[[nodiscard]] LinkLaw read_network_law(const LawEntry& entry, const ReadContext& context,
                                       Facts& facts);
// Of one process that drives several GPUs.
[[nodiscard]] HostLaw read_host_law(const ReadContext& context);
// Matrix products only in the precisions that the GPU has.
[[nodiscard]] ComputeLaw read_compute_law(const LawEntry& entry, const Gpu& gpu,
                                          const ReadContext& context, Facts& facts);
// The fitted part of `software`; the rest is left as it is.
void read_software_law(Software& software, const ReadContext& context, Facts& facts);
[[nodiscard]] CodecLaw read_codec_law(Implementation implementation, const ReadContext& context,
                                      Facts& facts);
// The GPUs that its timings are from: on others it is borrowed.
[[nodiscard]] std::vector<std::string> codec_law_measured_on(Implementation implementation,
                                                             const ReadContext& context);

}  // namespace payoff
