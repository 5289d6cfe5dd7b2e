// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compression.hpp"
#include "model/hardware.hpp"
#include "profiles/fact.hpp"
#include "profiles/read_hardware.hpp"

// The laws that `payoff calibrate fit` wrote (profiles/fitted), for one piece of hardware each:
//   network.yaml   fabric: {NAME: {...}}, network: {NAME: {...}}
//   compute.yaml   gpu: {NAME: {...}}
//   codecs.yaml    implementation: {framework_ops: {...}, library: {...}, fused: {...}}
// Every number has a value, a citation and usually its relative standard deviation. Hardware
// without an entry of its own is an error: a law is fitted or said to be assumed, never absent.

namespace payoff {

[[nodiscard]] CodecLaw read_codec_law(Implementation implementation, const ReadContext& context,
                                      Facts& facts);
[[nodiscard]] ComputeLaw read_compute_law(const Gpu& gpu, const ReadContext& context, Facts& facts);
[[nodiscard]] LinkLaw read_fabric_law(const Fabric& fabric, const ReadContext& context, Facts& facts);
[[nodiscard]] LinkLaw read_network_law(const Network& network, const ReadContext& context, Facts& facts);

}  // namespace payoff
