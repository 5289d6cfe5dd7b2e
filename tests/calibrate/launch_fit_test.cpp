// SPDX-License-Identifier: Apache-2.0
#include "calibrate/launch_fit.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "model/collective.hpp"
#include "tests/calibrate/planted_links.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinRel;

namespace {

// What one process would measure that needs `launch` for the kernel of each GPU.
MeasuredCollective small_messages(int gpus, Seconds launch) {
  MeasuredCollective table =
      planted_table(dgx_h100(), {gpus, gpus, 1}, Collective::all_gather, Launch::single_process);
  table.id = table.system = std::to_string(gpus);
  const CollectiveModel model(table.cluster, table.group);
  for (Bytes size = 8_B; size <= 1_MiB; size *= 2) {
    table.points.push_back(
        {size,
         launched_by_one_process(model.price(table.collective, size), gpus, {launch, 0.1}).time});
  }
  table.cluster.fabric.law = {};
  return table;
}

LaunchFit fit(const std::vector<MeasuredCollective>& tables) {
  LinkFit link;
  link.name = dgx_h100().fabric.name;
  link.law = dgx_h100().fabric.law;
  return fit_launches(tables, std::span(&link, 1));
}

}  // namespace

TEST_CASE("the fit recovers what a launch takes from messages that wait for launches") {
  const LaunchFit found = fit({small_messages(4, 20_us), small_messages(8, 20_us)});
  CHECK_THAT(found.law.launch_per_gpu / 1_us, WithinRel(20.0, 0.01));
  CHECK(found.law.relative_sd < 0.01);
  CHECK(found.systems == 2);
  CHECK(found.fewest_gpus == 4);
  CHECK(found.most_gpus == 8);
}

TEST_CASE("hosts that differ give the number between them and their spread") {
  const LaunchFit found = fit({small_messages(4, 16_us), small_messages(8, 25_us)});
  CHECK(found.law.launch_per_gpu > 17_us);
  CHECK(found.law.launch_per_gpu < 24_us);
  // ln(25 / 16) / sqrt(2) of two systems
  CHECK_THAT(found.law.relative_sd, WithinRel(std::log(25.0 / 16) / std::sqrt(2.0), 0.1));
}

TEST_CASE("a process for each GPU, CUDA graphs and groups of sends tell nothing of launches") {
  MeasuredCollective table = small_messages(4, 20_us);
  CHECK(launches_are_priced(table));
  for (const auto spoil : {+[](MeasuredCollective& t) { t.launch = Launch::process_per_gpu; },
                           +[](MeasuredCollective& t) { t.graph = true; },
                           +[](MeasuredCollective& t) { t.irregular = true; },
                           +[](MeasuredCollective& t) { t.collective = Collective::all_to_all; }}) {
    MeasuredCollective other = table;
    spoil(other);
    CHECK_FALSE(launches_are_priced(other));
    CHECK(fit({other}).tables.empty());
  }
}
