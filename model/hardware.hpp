// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/collective_kind.hpp"
#include "model/spread_band.hpp"
#include "model/units.hpp"

// The machines: what a GPU, the links inside a node and the network between nodes are (from data
// sheets), and the laws that say how much of it is achieved (fitted by `payoff calibrate fit`).
// Bandwidths are per direction. A law that no measurement supports is marked `assumed` by its
// profile and carries a wider relative uncertainty; the arithmetic is the same.

namespace payoff {

enum class Precision { fp32, tf32, fp16, bf16, fp8 };
inline constexpr std::size_t precision_count = 5;

template <typename T>
struct PerPrecision {
  std::array<T, precision_count> values{};
  constexpr T& operator[](Precision p) { return values[static_cast<std::size_t>(p)]; }
  constexpr const T& operator[](Precision p) const { return values[static_cast<std::size_t>(p)]; }
};

// Bytes of one stored element; tf32 is a way to multiply fp32 numbers, not a storage format.
[[nodiscard]] constexpr Bytes element_size(Precision p) {
  constexpr PerPrecision<Bytes> sizes{{{4_B, 4_B, 2_B, 2_B, 1_B}}};
  return sizes[p];
}

// Of an activation, or the gradient of one, as it stands in memory and travels between ranks. Where
// products are fp8 they read casts of tensors that stay in 16 bits (Micikevicius et al. 2022,
// arXiv:2209.05433, section 3.2; Transformer Engine; torchao's float8).
[[nodiscard]] constexpr Bytes activation_size(Precision p) {
  return p == Precision::fp8 ? 2_B : element_size(p);
}

// Of a weight as it is kept and gathered: with fp8 products 16 bits, unless the software keeps what
// the products read (`in_fp8`).
[[nodiscard]] constexpr Bytes weight_size(Precision p, bool in_fp8) {
  return p == Precision::fp8 && !in_fp8 ? 2_B : element_size(p);
}

// In order of age, those of one maker.
enum class Architecture { pascal, volta, turing, ampere, ada, hopper, blackwell, cdna3 };
// As profiles spell them.
inline constexpr std::array<std::pair<std::string_view, Architecture>, 8> architecture_names{{
    {"pascal", Architecture::pascal},
    {"volta", Architecture::volta},
    {"turing", Architecture::turing},
    {"ampere", Architecture::ampere},
    {"ada", Architecture::ada},
    {"hopper", Architecture::hopper},
    {"blackwell", Architecture::blackwell},
    {"cdna3", Architecture::cdna3},
}};
[[nodiscard]] constexpr std::string_view name(Architecture architecture) {
  return architecture_names.at(static_cast<std::size_t>(architecture)).first;
}

// The amounts of work of one kernel that the measurements behind a law contain. A range that nobody
// measured is empty: every price is then extrapolated.
template <typename Amount>
struct FitRange {
  Amount smallest{std::numeric_limits<double>::infinity()};
  Amount largest{};

  [[nodiscard]] constexpr bool empty() const { return smallest > largest; }
  constexpr void include(Amount amount) {
    smallest = std::min(smallest, amount);
    largest = std::max(largest, amount);
  }
  constexpr void include(const FitRange& other) {
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
  }
  [[nodiscard]] constexpr bool covers(const FitRange& other) const {
    return other.empty() || (other.smallest >= smallest && other.largest <= largest);
  }
  bool operator==(const FitRange&) const = default;
};

// Of kernels, by what limits them (model/kernel_amounts.hpp): the arithmetic of a product, the
// traffic of a kernel that streams.
struct KernelAmounts {
  PerPrecision<FitRange<Flops>> products;
  FitRange<Flops> convolutions;
  FitRange<Flops> attention;  // fused
  FitRange<Bytes> streams;
};

// How much of a GPU's peaks a kernel achieves (docs/model.md, "Compute"). Relative uncertainties
// are one standard deviation of the fit plus the discrepancy of its class.
struct ComputeLaw {
  PerPrecision<double> gemm_efficiency{};  // fraction of peak of a large matrix product
  double convolution_efficiency{};  // factor on gemm_efficiency for implicit-GEMM convolutions
  double attention_efficiency{};    // factor on gemm_efficiency inside fused attention
  double depth_half{};  // inner dimension at which a product loses half: k / (k + depth_half)
  double memory_efficiency{};  // fraction of the memory bandwidth of a streaming kernel
  Seconds launch{};            // floor of one kernel, and gap between dependent kernels
  KernelAmounts measured;      // in the steps of this GPU that it was fitted to
  double relative_sd{};        // of a predicted compute time
};

// What sharing a GPU does to work, where it was measured there: of the slow-down that the law of
// model/interference.hpp gives, the share that was seen, and how it differs from pair to pair.
struct PairLaw {
  double share{1.0};
  double spread{};  // standard deviation of the share
  bool measured{};
  // Of the pairs that it was fitted to, what the slow-down depends on: beside a message the share
  // of the units that it held, of compute and a codec what the codec takes of the memory bandwidth.
  FitRange<double> beside{};

  bool operator==(const PairLaw&) const = default;
};
struct PairLaws {
  PairLaw compute_beside_codec;
  PairLaw codec_beside_compute;
  PairLaw compute_beside_message;
  PairLaw codec_beside_message;
};

// What one of its copy engines moves to pinned memory of the host or back, alone. Zero where nobody
// measured it on this GPU; model/host_codec.hpp then assumes a share of the slot.
struct CopyLaw {
  Seconds start{};
  Bandwidth rate{};
  FitRange<Bytes> measured{};  // of the copies that it was fitted to
};

struct Gpu {
  std::string name;
  Architecture architecture{};
  int compute_units{};  // SMs, or CUs
  Bytes memory{};
  Bandwidth memory_bandwidth{};
  Bytes l2{};
  PerPrecision<FlopRate> peak{};  // dense; zero where the hardware has no such unit
  ComputeLaw law{};
  Watts power{};            // limit of the board; zero: not known
  bool card{};              // in a PCI Express slot, not on a board with others
  bool peer_to_peer{true};  // its driver lets cards write to each other over PCI Express
  PairLaws pairs{};         // where kernels were measured beside each other on it
  CopyLaw copies{};
};

// What a kernel that streams reaches of its memory.
[[nodiscard]] inline Bandwidth reached_bandwidth(const Gpu& gpu) {
  return gpu.law.memory_efficiency * gpu.memory_bandwidth;
}

enum class FabricKind { none, switched, full_mesh, hybrid_cube, pcie_tree, bridge };
enum class LinkGeneration {
  none,
  nvlink1,
  nvlink2,
  nvlink3,
  nvlink4,
  nvlink5,
  pcie3,
  pcie4,
  pcie5,
  xgmi3
};

// What the measurements behind a law cover; beyond it a price is extrapolated. Zero ranks: the link
// was not measured.
struct FitDomain {
  Bytes smallest{};
  Bytes largest{};
  int ranks{};

  [[nodiscard]] bool covers(Bytes size, int group) const {
    return group <= ranks && size >= smallest && size <= largest;
  }
};

// The fitted law of one kind of link for collectives (docs/model.md, "Collectives"):
//   launch + steps * step + wire + fill
// with the steps, the depth of the pipeline and the bytes on the wire (flags of the protocol
// included) of the algorithm and protocol that NCCL chooses. A share is of the nominal bandwidth,
// for large messages. `fill` is the cost of filling a pipeline; it makes the middle sizes:
//   fill = sqrt(ramp * depth * wire) / (1 + sqrt(size / (depth * channels * chunk)))
// with chunks of the best size it grows with the root of the message (`ramp` is the time that a
// chunk takes without its bytes) until every stage holds the largest chunk on every channel.
struct LinkLaw {
  Seconds launch{};  // what a call costs before its first step
  Seconds step_ll{};
  Seconds step_ll128{};
  Seconds step_simple{};
  Seconds step_nvls{};  // of an in-switch reduction; 0 where there is none
  double share_ll{};
  double share_ll128{};
  double share_simple{};
  double share_nvls{};
  Seconds rendezvous{};      // more for a step of LL whose message is longer than Network::eager
  double switched_hosts{1};  // how much longer LL takes behind a PCIe switch before PCIe 5
  Bandwidth channel{};       // what one thread block copies to a peer; 0: no limit
  Bandwidth node_limit{};    // of the software of a node (sockets); 0: none
  double relative_sd_node_limit{};  // from host to host
  Seconds ramp{};
  Bytes chunk{};                     // largest piece that a channel passes on; 0: no limit
  double congestion_per_doubling{};  // more time on the wire with each doubling beyond two nodes
  FitDomain domain;
  double relative_sd_small{};   // of a predicted time <= 64 KiB
  double relative_sd_middle{};  // up to 4 MiB
  double relative_sd_large{};   // beyond
  // What a price is further off, as an error of its own: a collective of a family of which the
  // link's own tables have none, by family and band of size; more ranks than they have, by band.
  std::array<BandSds, collective_family_count> relative_sd_family{};
  BandSds relative_sd_more_ranks{};
};

struct Fabric {
  std::string name;
  FabricKind kind{};
  LinkGeneration generation{};
  Bandwidth per_gpu{};  // all links of one GPU together
  Bandwidth pair{};     // between one pair of GPUs; equals per_gpu on a switch
  int max_gpus{};       // size of the domain
  bool nvls{};          // reduction inside the switch
  bool spans_nodes{};   // one switch joins the GPUs of several nodes, max_gpus in all
  bool crosses_sockets{};
  // Of a hybrid cube: the GPUs, of 0 to 7, that the ranks of a node are on, in their order; one
  // list for every server that differs. Empty: the first ones (model/cube_part).
  std::vector<std::vector<int>> parts{};
  LinkLaw law{};
  std::string twin{};  // the same links under one root; empty: none, or not known
};

enum class NetworkKind { none, rdma, tcp };

struct Network {
  std::string name;
  NetworkKind kind{};
  bool gpudirect{};
  bool sums{};                            // its switches can (SHARP)
  Seconds tuner_latency{};                // what the NCCL plug-in reports to NCCL's tuner
  std::optional<Bandwidth> node_limit{};  // software limit of a node (sockets)
  std::optional<Bytes> eager{};           // longest message sent without asking the receiver
  // Hosts that gather into their own memory (MPI without the GPU) put what arrives in its place at
  // this rate, after the wire and not beside it; zero where GPUs receive for themselves.
  Bandwidth gathers{};
  LinkLaw law{};
  std::string twin{};  // the same transport with GPUDirect; empty: none, or not known
};

// One process that drives several GPUs (nccl-tests -g) launches their kernels one after another.
struct HostLaw {
  Seconds launch_per_gpu{};
  double relative_sd{};
};

enum class CpuVendor { intel, amd, arm, power };

// What the host of a node has for codecs that run there (model/host_codec.hpp). Zero: not known.
struct Host {
  int cores{};  // of all sockets together
  // Of one GPU's copy engine to pinned host memory, alone; each direction. What is stated here goes
  // before what was measured on the GPU.
  Bandwidth copy{};
};

// NCCL then takes host memory from card to card, as it does between sockets; NVLink and its bridges
// are not concerned.
[[nodiscard]] inline bool copies_through_host(const Gpu& gpu, const Fabric& fabric) {
  return !gpu.peer_to_peer && fabric.kind == FabricKind::pcie_tree && !fabric.crosses_sockets;
}

struct Cluster {
  std::string name;
  Gpu gpu{};
  Fabric fabric{};
  Network network{};
  int gpus_per_node{1};
  int nics_per_node{};
  Bandwidth nic{};  // line rate of one NIC
  CpuVendor cpu{CpuVendor::intel};
  Host host{};
  int nodes{1};
  Price price{};  // of a node, the mean of all; zero: not known
  // Nodes of several kinds, in the order of the ranks, each with its own count: all of the above
  // but `nodes` and `price` is then what the first kind has (model/node_kinds.hpp). Empty: all are
  // alike.
  std::vector<Cluster> kinds{};

  [[nodiscard]] int gpus() const { return gpus_per_node * nodes; }
  [[nodiscard]] bool is_mixed() const { return !kinds.empty(); }
};

}  // namespace payoff
