// SPDX-License-Identifier: Apache-2.0
#include "study/row_catalogue.hpp"

#include <stdexcept>
#include <utility>

#include "profiles/read_hardware.hpp"
#include "profiles/read_model.hpp"
#include "profiles/read_software.hpp"

namespace payoff {
namespace {

template <class T, class Read>
void read_all(ProfileKind kind, const ReadContext& context, std::map<std::string, T>& into,
              Read read) {
  for (const std::string& name : context.library.names(kind)) {
    if (auto profile = read(name, std::nullopt, context)) {
      into.emplace(name, std::move(profile->value));
    }
  }
}

// Dense transformers are described by their rows, or by their names where these state no shape;
// what a mixture has beyond that, by its profile.
// Rows of recommenders say too little of their layers: they are not predicted.
void read_models(const ReadContext& context, RowCatalogue& catalogue) {
  for (const std::string& name : context.library.names(ProfileKind::model)) {
    const auto profile = read_model(name, std::nullopt, context);
    if (!profile) {
      continue;
    }
    if (const auto* table = std::get_if<ConvnetTable>(&profile->value)) {
      catalogue.convnets.emplace(name, table->rows);
    } else if (const auto* shape = std::get_if<TransformerShape>(&profile->value)) {
      (shape->experts.count > 0 ? catalogue.mixtures : catalogue.transformers)
          .emplace(name, *shape);
    }
  }
}

}  // namespace

RowCatalogue read_row_catalogue(const Library& library, bool with_compute_laws) {
  SourceMap sources;
  Diagnostics diagnostics;
  const ReadContext links{library, sources, diagnostics};
  const ReadContext compute{library, sources, diagnostics, with_compute_laws};
  RowCatalogue catalogue;
  read_all(ProfileKind::gpu, compute, catalogue.gpus, read_gpu);
  read_all(ProfileKind::fabric, links, catalogue.fabrics, read_fabric);
  read_all(ProfileKind::network, links, catalogue.networks, read_network);
  read_all(ProfileKind::software, compute, catalogue.software, read_software);
  read_models(compute, catalogue);
  if (diagnostics.error_count() > 0) {
    throw std::runtime_error("a shipped profile cannot be read:\n" +
                             render_text(diagnostics, sources));
  }
  return catalogue;
}

}  // namespace payoff
