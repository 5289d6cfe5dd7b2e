// SPDX-License-Identifier: Apache-2.0
#include "calibrate/link_held_out.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/held_out_profile.hpp"
#include "calibrate/held_out_spread.hpp"
#include "calibrate/network_fit.hpp"
#include "tests/calibrate/planted_links.hpp"
#include "tests/catch.hpp"

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
  const auto found = std::ranges::find_if(
      all, [&](const HeldOut& each) { return each.what.starts_with(what) && each.side == side; });
  REQUIRE(found != all.end());
  return *found;
}

HeldOut errors_of(LinkClass link_class, bool known, const std::vector<double>& large) {
  HeldOut result{"one", "link", link_class, LinkProblem::Side::network, known, false, {}, {}};
  result.log_errors.back() = large;
  return result;
}

}  // namespace

TEST_CASE("machines that follow one law are predicted from each other") {
  const NetworkFit fit = fit_of(machines({1, 1}));
  REQUIRE(fit.systems_held_out.size() == 4);  // two machines, inside nodes and between them
  for (const HeldOut& each : fit.systems_held_out) {
    CHECK(each.known);
    for (const std::vector<double>& errors : each.log_errors) {
      REQUIRE_FALSE(errors.empty());
      for (const double error : errors) {
        CHECK_THAT(error, WithinAbs(0, 0.1));
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
      REQUIRE(first.log_errors.at(band).size() == second.log_errors.at(band).size());
      for (std::size_t i = 0; i < first.log_errors.at(band).size(); ++i) {
        // Measured twice as long, predicted the same.
        CHECK_THAT(first.log_errors.at(band)[i] - second.log_errors.at(band)[i],
                   WithinAbs(std::log(2.0), 1e-9));
      }
    }
  }
}

TEST_CASE("machines that differ widen the spread of a link that all of them have", "[once]") {
  const LinkLaw alike = fit_of(machines({1, 1, 1, 1})).networks.at(0).law;
  const LinkLaw apart = fit_of(machines({0.75, 1, 1, 1.35})).networks.at(0).law;
  CHECK(alike.relative_sd_large < 0.05);
  // Predicted from the others, an outer machine is off by what it differs from the nearest of them,
  // ln(1 / 0.75), to what it differs from the farthest, ln(1.35 / 0.75): over 1.645, and times
  // Student's 2.132 over 1.645 for four.
  CHECK(apart.relative_sd_large > 0.22);
  CHECK(apart.relative_sd_large < 0.47);
}

TEST_CASE("a machine with misplaced NICs tells how far machines may be off, and no law", "[once]") {
  std::vector<MeasuredCollective> tables = machines({1, 1, 1.5});
  for (MeasuredCollective& table : tables) {
    table.misplaced = table.source == "machine 2";
  }
  const NetworkFit fit = fit_of(tables);
  const NetworkFit without = fit_of(machines({1, 1}));
  const LinkLaw& law = fit.networks.front().law;
  CHECK(law.share_simple == without.networks.front().law.share_simple);
  CHECK(law.step_ll == without.networks.front().law.step_ll);
  const HeldOut& odd = held_out(fit.systems_held_out, "machine 2", LinkProblem::Side::network);
  CHECK_THAT(odd.log_errors.back().front(), WithinAbs(std::log(1 / 1.5), 0.1));
  CHECK(law.relative_sd_large > without.networks.front().law.relative_sd_large);
}

TEST_CASE("a link or a scale that is held out is predicted from the rest of its class") {
  const NetworkFit fit = fit_of(machines({1, 1}));
  const HeldOut& link = held_out(fit.links_held_out, "network", LinkProblem::Side::network);
  CHECK_FALSE(link.known);
  const HeldOut& scale = held_out(fit.scales_held_out, "3 to 16 nodes", LinkProblem::Side::network);
  CHECK(scale.known);
  CHECK(scale.from_fewer_ranks);
  const HeldOut& pairs = held_out(fit.scales_held_out, "2 nodes", LinkProblem::Side::network);
  CHECK(pairs.known);
  CHECK_FALSE(pairs.from_fewer_ranks);
  CHECK(more_ranks_spreads(fit.scales_held_out, LinkProblem::Side::network).back().systems == 1);
}

TEST_CASE("a spread holds nine in ten errors, systems counting equally") {
  // By number 0.1 would hold 95 of 100; of the second system it holds none.
  const std::vector<HeldOut> systems{errors_of(LinkClass::rdma, true, std::vector<double>(95, 0.1)),
                                     errors_of(LinkClass::rdma, true, {-0.2, 0.2, 0.2, -0.2, 0.9})};
  const HeldOutSpread spread =
      spreads_of(systems, LinkProblem::Side::network, true, LinkClass::rdma).back();
  CHECK(spread.systems == 2);
  constexpr double normal = 1.6448536;  // a normal holds 90 % within so many deviations
  constexpr double student = 2.9200;    // and Student's of two degrees of freedom within these
  CHECK_THAT(spread.log_sd, WithinRel(0.2 / normal * student / normal, 1e-4));
  constexpr double student_five = 2.0150;
  const std::vector<HeldOut> five(5, errors_of(LinkClass::rdma, true, {0.2}));
  CHECK_THAT(spreads_of(five, LinkProblem::Side::network, true, std::nullopt).back().log_sd,
             WithinRel(0.2 / normal * student_five / normal, 1e-4));
}

TEST_CASE("a class with less than two members held out has the spread of its side") {
  const std::vector<HeldOut> links{errors_of(LinkClass::rdma, false, {0.1}),
                                   errors_of(LinkClass::rdma, false, {0.1}),
                                   errors_of(LinkClass::tcp, false, {0.4})};
  const auto unmeasured = [&](LinkClass link_class) {
    return class_spreads({}, links, link_class).unmeasured.back();
  };
  CHECK(unmeasured(LinkClass::rdma).systems == 2);
  CHECK(unmeasured(LinkClass::tcp).systems == 3);
  CHECK(unmeasured(LinkClass::tcp).log_sd > unmeasured(LinkClass::rdma).log_sd);
}

TEST_CASE("what is told by all-reduces alone says how far the other collectives are off") {
  std::vector<MeasuredCollective> tables = machines({1, 1});
  for (MeasuredCollective& table : tables) {
    if (table.collective == Collective::all_gather) {
      for (CollectivePoint& point : table.points) {
        point.time *= 1.3;  // longer than any law of a link says
      }
    }
  }
  const NetworkFit fit = fit_of(tables);
  const BandSpreads spreads = family_spreads(fit.families_held_out, CollectiveFamily::gathers);
  constexpr double normal = 1.6448536;
  constexpr double student = 2.9200;  // a fabric and a network
  for (const HeldOutSpread& spread : spreads) {
    CHECK(spread.systems == 2);
    CHECK_THAT(spread.log_sd, WithinAbs(std::log(1.3) / normal * student / normal, 0.05));
  }
  // No table has the others: they are as far off as what was held out.
  const BandSpreads exchanges = family_spreads(fit.families_held_out, CollectiveFamily::exchanges);
  CHECK(exchanges.back().log_sd == spreads.back().log_sd);
  // Of one link alone a family is not told from the others.
  std::vector<HeldOut> one{errors_of(LinkClass::pcie, true, {0.1, 0.1}),
                           errors_of(LinkClass::pcie, true, {0.2, 0.2})};
  one.front().what = family_name(CollectiveFamily::gathers);
  one.back().what = family_name(CollectiveFamily::rooted);
  const HeldOutSpread gathers = family_spreads(one, CollectiveFamily::gathers).back();
  CHECK(gathers.systems == 1);
  constexpr double student_one = 6.3138;
  CHECK_THAT(gathers.log_sd, WithinRel(0.2 / normal * student_one / normal, 1e-4));
  // The link's own tables have gathers, which the law then fits, and no exchanges.
  const LinkLaw& law = fit.networks.at(0).law;
  const auto of = [&](CollectiveFamily family) {
    return law.relative_sd_family.at(static_cast<std::size_t>(family)).back();
  };
  CHECK(of(CollectiveFamily::all_reduces) == 0);
  CHECK(of(CollectiveFamily::gathers) == 0);
  CHECK(of(CollectiveFamily::exchanges) == exchanges.back().log_sd);
}

TEST_CASE("a size that a link's own tables do not have is as uncertain as a link held out whole") {
  std::vector<MeasuredCollective> tables = machines({1, 1});
  for (MeasuredCollective& table : tables) {
    std::erase_if(table.points, [](const CollectivePoint& point) { return point.size <= 64_KiB; });
    table.collective = Collective::all_reduce;
  }
  const NetworkFit fit = fit_of(tables);
  const LinkLaw& law = fit.networks.at(0).law;
  const BandSds& gathers =
      law.relative_sd_family.at(static_cast<std::size_t>(CollectiveFamily::gathers));
  // Links held out whole are predicted for all that they were measured with, ranks and families.
  CHECK(gathers.front() == 0);
  CHECK(law.relative_sd_more_ranks.front() == 0);
  CHECK(law.relative_sd_more_ranks.back() > 0);
}

TEST_CASE("coverage counts errors inside the interval that the others give") {
  // Each of two is judged by the other: 0.1 is within 0.3 times Student's widening, 0.3 times that
  // of 0.1 is not reached by 0.9.
  const std::vector<HeldOut> two{errors_of(LinkClass::rdma, true, {0.1, 0.1}),
                                 errors_of(LinkClass::rdma, true, {0.3, 0.3, 0.9, 0.3})};
  const auto all = [](const HeldOut&) { return true; };
  const HeldOutCoverage coverage = coverage_where(two, all).back();
  CHECK(coverage.rows == 6);
  // Half widths: of one member times 6.3138 / 1.6449 = 3.838, so 0.38 judges the second, and more
  // than that the first.
  CHECK_THAT(coverage.share, WithinRel(5.0 / 6.0, 1e-12));
  CHECK(coverage_where({two.front()}, all).back().rows == 0);
}

// e^x - 1 = 0.234567 for x = ln 1.234567.
TEST_CASE("what was held out is written with the four digits of the laws beside it") {
  NetworkFit fit;
  fit.systems_held_out.push_back(errors_of(LinkClass::rdma, true, {std::log(1.234567)}));
  CHECK_THAT(held_out_lines(fit),
             Catch::Matchers::ContainsSubstring("large: {held_out: 1, median_error: "
                                                "0.2346, relative_sd: "));
}
