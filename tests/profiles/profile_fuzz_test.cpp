// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <string>

#include "profiles/read_method.hpp"
#include "profiles/read_model.hpp"
#include "profiles/read_software.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/damage.hpp"
#include "tests/profiles/profile_folder.hpp"

// Whatever a profile holds, reading it ends, throws nothing, and leaves a value or errors, each
// with a place inside its text. The profiles are the shipped ones with random damage, from a fixed
// seed.

using namespace payoff;
using test::damaged;
using test::ProfileFolder;
using test::ProfileReading;
using test::shipped;

namespace {

// Whether there is a value.
bool read(ProfileKind kind, const std::string& name, const ReadContext& context) {
  switch (kind) {
    case ProfileKind::gpu:
      return read_gpu(name, std::nullopt, context).has_value();
    case ProfileKind::fabric:
      return read_fabric(name, std::nullopt, context).has_value();
    case ProfileKind::network:
      return read_network(name, std::nullopt, context).has_value();
    case ProfileKind::cluster:
      return read_cluster(name, std::nullopt, context).has_value();
    case ProfileKind::software:
      return read_software(name, std::nullopt, context).has_value();
    case ProfileKind::compression:
      return read_method(name, std::nullopt, context).has_value();
    case ProfileKind::model:
      break;
  }
  const auto model = read_model(name, std::nullopt, context);
  if (model && std::holds_alternative<TransformerShape>(model->value)) {
    CHECK(parameter_count(std::get<TransformerShape>(model->value)) > 0);
  }
  return model.has_value();
}

struct Count {
  std::size_t readings = 0;
  std::size_t refused = 0;
};

void read_damaged(const ProfileFolder& folder, ProfileKind kind, const std::string& name,
                  bool with_laws, Count& count) {
  ProfileReading reading(folder.library());
  ReadContext context = reading.context();
  context.with_laws = with_laws;
  const bool has_value = read(kind, name, context);
  CHECK(has_value != reading.diagnostics.has_errors());
  for (const Diagnostic& diagnostic : reading.diagnostics.sorted()) {
    CHECK_FALSE(diagnostic.message.empty());
    if (diagnostic.span) {
      const Source& source = reading.sources[diagnostic.span->source];
      CHECK(diagnostic.span->offset + diagnostic.span->length <= source.text.size() + 1);
    }
  }
  (void)render_text(reading.diagnostics, reading.sources);
  ++count.readings;
  count.refused += has_value ? 0 : 1;
}

std::string file_of(ProfileKind kind, const std::string& name) {
  return std::filesystem::relative(shipped().path(kind, name), shipped().folder()).string();
}

// Long files (tables of layers) are read less often.
std::size_t rounds(const std::string& text) {
  return std::clamp<std::size_t>(24'000 / text.size(), 2, 12);
}

}  // namespace

TEST_CASE("a damaged profile of any kind is read or refused, and never breaks its reader") {
  const ProfileFolder folder;
  std::mt19937_64 random(20261122);
  Count count;
  for (const ProfileKind kind :
       {ProfileKind::gpu, ProfileKind::fabric, ProfileKind::network, ProfileKind::cluster,
        ProfileKind::model, ProfileKind::software, ProfileKind::compression}) {
    for (const std::string& name : shipped().names(kind)) {
      const std::string file = file_of(kind, name);
      const std::string good = folder.read(file);
      for (std::size_t i = 0; i < rounds(good); ++i) {
        const std::string text = damaged(good, random);
        INFO(file << "\n" << text);
        folder.write(file, text);
        read_damaged(folder, kind, name, false, count);
      }
      folder.write(file, good);
    }
  }
  CHECK(count.readings > 800);
  CHECK(count.refused > count.readings / 2);
}

TEST_CASE("damaged laws and sources never break the readers that join them") {
  const ProfileFolder folder;
  std::mt19937_64 random(20261123);
  Count count;
  const std::vector<std::tuple<std::string, ProfileKind, std::string>> cases = {
      {"fitted/compute.yaml", ProfileKind::gpu, "t4"},
      {"fitted/network.yaml", ProfileKind::fabric, "nvlink-mesh-v2-half"},
      {"fitted/network.yaml", ProfileKind::network, "efa"},
      {"fitted/codecs.yaml", ProfileKind::compression, "powersgd"},
      {"model/sources.yaml", ProfileKind::model, "gpt2"}};
  for (const auto& [file, kind, name] : cases) {
    const std::string good = folder.read(file);
    for (int i = 0; i < 30; ++i) {
      const std::string text = damaged(good, random);
      INFO(file << "\n" << text);
      folder.write(file, text);
      read_damaged(folder, kind, name, true, count);
    }
    folder.write(file, good);
  }
  CHECK(count.readings == 150);
}

TEST_CASE("random plans never break their reader") {
  std::mt19937_64 random(7);
  const std::vector<std::string> pieces = {
      "powersgd", "topk",  ":",     ",",  "=",    "rank",        "ratio",    "4",
      "0.01",     "1 %",   " ",     "-",  "none", "placement",   "overlap",  "true",
      "false",    "1e999", ".yaml", "\"", "'",    "side_stream", "\xc3\xa9", "index_bytes"};
  std::size_t understood = 0;
  for (int i = 0; i < 1'500; ++i) {
    std::string text;
    for (std::uint64_t n = 1 + random() % 6; n > 0; --n) {
      text += pieces[random() % pieces.size()];
    }
    CAPTURE(text);
    ProfileReading reading(shipped());
    const std::size_t source = reading.sources.add_argument(1, text);
    const bool has_value = read_plan({source, 0, text.size()}, reading.context()).has_value();
    CHECK(has_value != reading.diagnostics.has_errors());
    (void)render_text(reading.diagnostics, reading.sources);
    understood += has_value ? 1 : 0;
  }
  CHECK(understood > 10);
}
