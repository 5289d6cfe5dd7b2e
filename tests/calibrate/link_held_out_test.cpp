// SPDX-License-Identifier: Apache-2.0
#include "calibrate/link_held_out.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/network_fit.hpp"
#include "tests/calibrate/planted_links.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

// One machine for each factor by which its times are longer than what the planted laws say.
std::vector<MeasuredCollective> machines(const std::vector<double>& factors) {
  Cluster truth = dgx_h100();
  truth.fabric.law = planted_fabric();
  truth.network.law = planted_network();
  Noise random;
  std::vector<MeasuredCollective> tables;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    for (const int nodes : {1, 2, 4}) {
      for (const Collective collective : {Collective::all_reduce, Collective::all_gather}) {
        MeasuredCollective table = measured(truth, nodes, collective, 0, random);
        table.source = "machine " + std::to_string(i);
        for (CollectivePoint& point : table.points) {
          point.time = point.time * factors[i];
        }
        tables.push_back(std::move(table));
      }
    }
  }
  return tables;
}

NetworkFit fit_of(const std::vector<MeasuredCollective>& tables) {
  return fit_network(tables, std::vector<Fabric>{dgx_h100().fabric},
                     std::vector<Network>{dgx_h100().network});
}

const HeldOut& held_out(const std::vector<HeldOut>& all, const std::string& what,
                        LinkProblem::Side side) {
  const auto found = std::ranges::find_if(all, [&](const HeldOut& each) {
    return each.what.starts_with(what) && each.side == side;
  });
  REQUIRE(found != all.end());
  return *found;
}

HeldOut errors_of(LinkClass link_class, bool known, const std::vector<HeldOutPoint>& large) {
  HeldOut result{"one", "link", link_class, LinkProblem::Side::network, known, {}};
  result.points.back() = large;
  return result;
}

}  // namespace

TEST_CASE("machines that follow one law are predicted from each other") {
  const NetworkFit fit = fit_of(machines({1, 1}));
  REQUIRE(fit.systems_held_out.size() == 4);  // two machines, inside nodes and between them
  for (const HeldOut& each : fit.systems_held_out) {
    CHECK(each.known);
    for (const std::vector<HeldOutPoint>& points : each.points) {
      REQUIRE_FALSE(points.empty());
      for (const HeldOutPoint& point : points) {
        CHECK_THAT(point.log_error, WithinAbs(0, 0.1));
      }
    }
  }
}

TEST_CASE("what a machine measured has no part in its own prediction") {
  const NetworkFit before = fit_of(machines({1, 1.2, 1}));
  const NetworkFit after = fit_of(machines({1, 2.4, 1}));
  for (const auto side : {LinkProblem::Side::fabric, LinkProblem::Side::network}) {
    const HeldOut& first = held_out(before.systems_held_out, "machine 1", side);
    const HeldOut& second = held_out(after.systems_held_out, "machine 1", side);
    for (std::size_t band = 0; band < spread_band_count; ++band) {
      REQUIRE(first.points.at(band).size() == second.points.at(band).size());
      for (std::size_t i = 0; i < first.points.at(band).size(); ++i) {
        // Measured twice as long, predicted the same.
        CHECK_THAT(first.points.at(band)[i].log_error - second.points.at(band)[i].log_error,
                   WithinAbs(std::log(2.0), 1e-9));
      }
    }
  }
}

TEST_CASE("machines that differ widen the spread of a link that all of them have") {
  const LinkLaw alike = fit_of(machines({1, 1, 1, 1})).networks.at(0).law;
  const LinkLaw apart = fit_of(machines({0.75, 1, 1, 1.35})).networks.at(0).law;
  CHECK(alike.relative_sd_large < 0.05);
  // The outer two are off by about 0.3 of a logarithm, the inner two by none.
  CHECK(apart.relative_sd_large > 0.1);
  CHECK(apart.relative_sd_large < 0.3);
}

TEST_CASE("a link or a scale that is held out is predicted from the rest of its class") {
  const NetworkFit fit = fit_of(machines({1, 1}));
  const HeldOut& link = held_out(fit.links_held_out, "network", LinkProblem::Side::network);
  CHECK_FALSE(link.known);
  const HeldOut& scale = held_out(fit.scales_held_out, "3 to 16 nodes", LinkProblem::Side::network);
  CHECK(scale.known);
}

TEST_CASE("a spread is Student's over systems, which count equally") {
  // Nine in ten errors of the first are within 0.1, all of the second are 0.2.
  std::vector<HeldOutPoint> first(9, {0.1, 0});
  first.push_back({-3.0, 0});
  const std::vector<HeldOut> systems{errors_of(LinkClass::rdma, true, first),
                                     errors_of(LinkClass::rdma, true, {{-0.2, 0}})};
  const HeldOutSpread spread =
      spreads_of(systems, LinkProblem::Side::network, true, LinkClass::rdma).back();
  CHECK(spread.systems == 2);
  constexpr double normal = 1.6448536;
  constexpr double student = 2.9200;  // two degrees of freedom
  const double root_mean_square = std::sqrt((0.1 * 0.1 + 0.2 * 0.2) / 2) / normal;
  CHECK_THAT(spread.log_sd, WithinRel(root_mean_square * student / normal, 1e-6));
}

TEST_CASE("errors within what hosts differ by do not widen the spread of a link") {
  const std::vector<HeldOut> systems{
      errors_of(LinkClass::tcp, true, {{0.3, 0.2}}),    // 0.2 x 1.64 holds it
      errors_of(LinkClass::tcp, true, {{0.3, 0.1}})};  // 0.1 x 1.64 does not
  const auto of = [&](std::size_t i) {
    return spreads_of({systems[i]}, LinkProblem::Side::network, true, LinkClass::tcp)
        .back()
        .log_sd;
  };
  CHECK(of(0) == 0);
  CHECK(of(1) > 0);
}

TEST_CASE("a class with less than two members held out has the spread of its side") {
  const std::vector<HeldOut> links{errors_of(LinkClass::rdma, false, {{0.1, 0}}),
                                   errors_of(LinkClass::rdma, false, {{0.1, 0}}),
                                   errors_of(LinkClass::tcp, false, {{0.4, 0}})};
  const auto unmeasured = [&](LinkClass link_class) {
    return class_spreads({}, links, link_class).unmeasured.back();
  };
  CHECK(unmeasured(LinkClass::rdma).systems == 2);
  CHECK(unmeasured(LinkClass::tcp).systems == 3);
  CHECK(unmeasured(LinkClass::tcp).log_sd > unmeasured(LinkClass::rdma).log_sd);
}
