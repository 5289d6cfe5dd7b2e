// SPDX-License-Identifier: Apache-2.0
#include "calibrate/network_fit.hpp"

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/calibrate/planted_links.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinRel;

namespace {

struct Planted {
  Cluster truth;
  NetworkFit fit;
};

Planted fit_planted(double noise) {
  Planted planted;
  planted.truth = dgx_h100();
  planted.truth.fabric.law = planted_fabric();
  planted.truth.network.law = planted_network();
  Noise random;
  std::vector<MeasuredCollective> tables;
  for (const Collective collective : {Collective::all_reduce, Collective::all_gather,
                                      Collective::all_to_all, Collective::send_recv}) {
    for (const int nodes : {1, 2, 4, 16, 64}) {
      tables.push_back(measured(planted.truth, nodes, collective, noise, random));
    }
  }
  const std::vector<Fabric> fabrics{planted.truth.fabric};
  const std::vector<Network> networks{planted.truth.network};
  planted.fit = fit_network(tables, fabrics, networks);
  return planted;
}

}  // namespace

TEST_CASE("the fit recovers the laws that made the measurements, through 5 % of noise") {
  const Planted planted = fit_planted(0.05);
  const LinkLaw& fabric = planted.fit.fabrics.at(0).law;
  CHECK_THAT(fabric.launch / planted.truth.fabric.law.launch, WithinRel(1.0, 0.1));
  CHECK_THAT(fabric.step_ll / planted.truth.fabric.law.step_ll, WithinRel(1.0, 0.1));
  CHECK_THAT(fabric.step_nvls / planted.truth.fabric.law.step_nvls, WithinRel(1.0, 0.15));
  CHECK_THAT(fabric.share_simple, WithinRel(0.8, 0.03));
  CHECK_THAT(fabric.share_nvls, WithinRel(0.7, 0.03));
  CHECK_THAT(fabric.channel / planted.truth.fabric.law.channel, WithinRel(1.0, 0.1));
  const LinkLaw& network = planted.fit.networks.at(0).law;
  CHECK_THAT(network.step_ll / planted.truth.network.law.step_ll, WithinRel(1.0, 0.05));
  CHECK_THAT(network.step_ll128 / planted.truth.network.law.step_ll128, WithinRel(1.0, 0.1));
  CHECK_THAT(network.share_simple, WithinRel(0.9, 0.03));
  CHECK_THAT(network.share_nvls, WithinRel(0.92, 0.03));
  CHECK_THAT(network.congestion_per_doubling, WithinRel(0.04, 0.3));
  for (const LinkFit& link : {planted.fit.fabrics.at(0), planted.fit.networks.at(0)}) {
    for (const BandError& band : link.errors) {
      CHECK(band.median < 0.04);  // that of the noise is 0.025
    }
  }
}

TEST_CASE("a fitted parameter lies within three standard deviations of the planted one") {
  const Planted planted = fit_planted(0.05);
  for (const auto& [link, law] : {std::pair(planted.fit.fabrics.at(0), planted_fabric()),
                                  std::pair(planted.fit.networks.at(0), planted_network())}) {
    for (const LinkCoefficient& coefficient : link.coefficients) {
      const LinkParameter& parameter = *coefficient.parameter;
      if (!coefficient.fitted || parameter.number == nullptr || coefficient.value < 1.001) {
        continue;
      }
      INFO(parameter.key);
      const double truth = 1 / (law.*parameter.number);
      CHECK(std::abs(coefficient.value - truth) < 3 * coefficient.sd + 0.01);
    }
  }
}

TEST_CASE("a link that nobody measured has the law of its class and a wide spread") {
  Planted planted = fit_planted(0.05);
  Fabric other = planted.truth.fabric;
  other.name = "other";
  Noise random;
  const std::vector<MeasuredCollective> tables{
      measured(planted.truth, 1, Collective::all_reduce, 0.02, random)};
  const std::vector<Fabric> fabrics{planted.truth.fabric, other};
  const NetworkFit fit = fit_network(tables, fabrics, {});
  CHECK(fit.fabrics.at(1).tables.empty());
  CHECK_THAT(fit.fabrics.at(1).law.share_nvls, WithinRel(fit.fabrics.at(0).law.share_nvls, 0.1));
  CHECK(fit.fabrics.at(1).law.relative_sd_middle > 1.5 * fit.fabrics.at(0).law.relative_sd_middle);
  for (const LinkCoefficient& coefficient : fit.fabrics.at(1).coefficients) {
    CHECK_FALSE(coefficient.fitted);
  }
}

TEST_CASE("a class has the mean of its links, however many tables one of them has") {
  // Six tables of a slow link, one of a fast link; a third link was never measured.
  Cluster truth = dgx_h100();
  truth.fabric.law = planted_fabric();
  Noise random;
  std::vector<MeasuredCollective> tables;
  std::vector<Network> networks;
  for (const auto& [link, step, copies] :
       {std::tuple("slow", 25_us, 6), std::tuple("fast", 5_us, 1), std::tuple("third", 5_us, 0)}) {
    truth.network.name = link;
    truth.network.law = planted_network();
    truth.network.law.step_ll = step;
    networks.push_back(truth.network);
    for (int copy = 0; copy < copies; ++copy) {
      tables.push_back(measured(truth, 2, Collective::all_reduce, 0.02, random));
    }
  }
  const NetworkFit fit = fit_network(tables, std::vector<Fabric>{truth.fabric}, networks);
  CHECK_THAT(fit.networks.at(0).law.step_ll / 1_us, WithinRel(25.0, 0.1));
  CHECK_THAT(fit.networks.at(1).law.step_ll / 1_us, WithinRel(5.0, 0.2));
  const double third = fit.networks.at(2).law.step_ll / 1_us;
  CHECK(third > 5.5);
  CHECK(third < 18);
}

TEST_CASE("a transport without GPUDirect has the LL of the same transport with it") {
  Cluster truth = dgx_h100();
  truth.fabric.law = planted_fabric();
  truth.network.law = planted_network();
  truth.network.law.step_ll = 22_us;
  Network staged = truth.network;
  staged.name = "staged";
  staged.twin = truth.network.name;
  staged.gpudirect = false;
  Network other = staged;
  other.name = "other";
  other.twin = "not measured";
  Noise random;
  const std::vector<MeasuredCollective> tables{
      measured(truth, 2, Collective::all_reduce, 0.02, random)};
  const NetworkFit fit = fit_network(tables, std::vector<Fabric>{truth.fabric},
                                     std::vector<Network>{truth.network, staged, other});
  const double direct = fit.networks.at(0).law.step_ll / 1_us;
  CHECK_THAT(fit.networks.at(1).law.step_ll / 1_us, WithinRel(direct, 1e-6));
  CHECK(fit.networks.at(1).tables.empty());
  CHECK(fit.networks.at(2).law.step_ll / 1_us < direct);  // not the same transport
}

TEST_CASE("what sockets carry belongs to hosts: a link has what hosts of its class carry") {
  // Two links, each seen on hosts of their own that carry 2 and 4.5 GB/s.
  Cluster truth = dgx_h100();
  truth.fabric.law = planted_fabric();
  truth.network.kind = NetworkKind::tcp;
  truth.network.gpudirect = false;
  Noise random;
  std::vector<MeasuredCollective> tables;
  std::vector<Network> networks;
  for (const auto& [link, carried] : {std::pair("slow", 2_GBps), std::pair("fast", 4.5_GBps)}) {
    truth.network.name = link;
    truth.network.law = planted_network();
    truth.network.law.node_limit = carried;
    networks.push_back(truth.network);
    for (const int nodes : {1, 2, 4}) {
      tables.push_back(measured(truth, nodes, Collective::all_reduce, 0.02, random));
      tables.back().id = link + std::to_string(nodes);
      tables.back().system = link;
    }
  }
  Network other = truth.network;  // nobody measured it
  other.name = "other";
  Network direct = other;  // no CPU copies its data
  direct.name = "direct";
  direct.gpudirect = true;
  networks.push_back(other);
  networks.push_back(direct);
  const NetworkFit fit = fit_network(tables, std::vector<Fabric>{truth.fabric}, networks);
  for (const std::size_t link : {0U, 1U, 2U}) {
    INFO(fit.networks.at(link).name);
    CHECK_THAT(fit.networks.at(link).law.node_limit / 1_GBps, WithinRel(3.0, 0.05));
    // Student's with one degree of freedom: 90 % of hosts within a wide range.
    CHECK(fit.networks.at(link).law.relative_sd_node_limit > 1);
  }
  REQUIRE(fit.networks.at(0).of_hosts.size() == 1);
  const LinkCoefficient& own = fit.networks.at(0).of_hosts.front();
  CHECK_THAT(value_of(*own.parameter, own.value), WithinRel(2e9, 0.05));
  CHECK(fit.networks.at(3).link_class == LinkClass::tcp_gpudirect);
  CHECK(fit.networks.at(3).law.node_limit == Bandwidth{});
  CHECK(fit.networks.at(3).law.relative_sd_large > fit.networks.at(2).law.relative_sd_large);
}

TEST_CASE("CUDA graphs, shared hosts and launches of other GPUs' kernels are not fitted") {
  MeasuredCollective table;
  table.points = {{8_B, 35_us}, {256_KiB, 48_us}, {1_MiB, 76_us}};
  table.launch = Launch::single_process;
  CHECK_FALSE(is_comparable(table, table.points[0]));
  CHECK_FALSE(is_comparable(table, table.points[1]));  // launches still hide the collective
  CHECK(is_comparable(table, table.points[2]));
  table.launch = Launch::process_per_gpu;
  CHECK(is_comparable(table, table.points[0]));
  table.graph = true;
  CHECK_FALSE(is_comparable(table, table.points[0]));
}
