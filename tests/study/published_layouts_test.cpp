// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <vector>

#include "profiles/read_experiment.hpp"
#include "study/layout_search.hpp"
#include "tests/catch.hpp"

// Layouts that papers found best for their models.

using namespace payoff;

namespace {

// GPT-3 175B on 128 A100s of eight a node, states whole and all of the forward computed again, as
// Narayanan et al. 2021 ran it.
Experiment gpt3_175b() {
  const std::filesystem::path source = PAYOFF_SOURCE_DIR;
  SourceMap sources;
  Diagnostics diagnostics;
  const Library library(source / "profiles");
  auto read = read_experiment(
      source / "examples/05-gpt3-175b-a100/experiment.yaml",
      {{1, "layout.recompute=full"}, {2, "layout.sequence_parallel=false"}, {3, "compress=[]"}},
      {library, sources, diagnostics});
  REQUIRE(read);
  return read->experiment;
}

Candidate best_of(const Experiment& job, std::vector<LayoutAxis> more) {
  SearchOptions options;
  options.keep = {LayoutAxis::cp,
                  LayoutAxis::zero,
                  LayoutAxis::schedule,
                  LayoutAxis::recompute,
                  LayoutAxis::sequence_parallel,
                  LayoutAxis::micro_batch};
  options.keep.insert(options.keep.end(), more.begin(), more.end());
  const SearchResult found = search_layouts(job, options);
  REQUIRE_FALSE(found.uncompressed.empty());
  return found.uncompressed.front();
}

}  // namespace

// Narayanan et al. 2021, takeaways 1 to 3 and table 1: tensor parallelism up to the GPUs of a node,
// pipelines between nodes, both together as much as the memory needs; interleaving helps.
TEST_CASE("GPT-3 175B on A100s goes best with tp inside a node, pp between nodes, interleaved") {
  const Experiment job = gpt3_175b();
  const Candidate best = best_of(job, {});
  CHECK((best.layout.tp == 4 || best.layout.tp == 8));
  CHECK((best.layout.pp == 8 || best.layout.pp == 16));
  CHECK(best.layout.tp * best.layout.pp == 64);
  CHECK(best.layout.chunks > 1);
  // The given stages are in one piece: chunks send p times as often, and leave less of a bubble.
  CHECK(best_of(job, {LayoutAxis::virtual_stages}).step > 1.02 * best.step);
  Experiment across = job;
  across.layout.tp = 16;
  across.layout.pp = 4;
  CHECK(best_of(across, {LayoutAxis::tp}).step > 1.2 * best.step);
}

// With many micro-batches the bubble is small, and more messages gain little or lose.
TEST_CASE("interleaving gains less the more micro-batches there are") {
  const auto gain = [](int micro_batches) {
    Experiment job = gpt3_175b();
    job.layout.micro_batches = micro_batches;
    const std::vector<LayoutAxis> kept{LayoutAxis::tp, LayoutAxis::pp};
    std::vector<LayoutAxis> plain = kept;
    plain.push_back(LayoutAxis::virtual_stages);
    return best_of(job, plain).step / best_of(job, kept).step;
  };
  const double few = gain(16);
  const double many = gain(256);
  CHECK(few > many);
  CHECK(many >= 1.0);
}
