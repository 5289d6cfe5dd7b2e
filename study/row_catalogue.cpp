// SPDX-License-Identifier: Apache-2.0
#include "study/row_catalogue.hpp"

#include "profiles/read_hardware.hpp"
#include "profiles/read_model.hpp"
#include "profiles/read_software.hpp"
#include "study/shipped_profiles.hpp"

namespace payoff {
namespace {

// Dense transformers are described by their rows, or by their names where these state no shape;
// what a mixture has beyond that, and recommenders, by their profiles.
void read_models(const ReadContext& context, RowCatalogue& catalogue) {
  for (const std::string& name : context.library.names(ProfileKind::model)) {
    const auto profile = read_model(name, std::nullopt, context);
    if (!profile) {
      continue;
    }
    if (const auto* table = std::get_if<ConvnetTable>(&profile->value)) {
      catalogue.convnets.emplace(name, table->rows);
    } else if (const auto* recommender = std::get_if<RecommenderShape>(&profile->value)) {
      catalogue.recommenders.emplace(name, *recommender);
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
  catalogue.gpus = read_shipped<Gpu>(ProfileKind::gpu, compute, read_gpu);
  catalogue.fabrics = read_shipped<Fabric>(ProfileKind::fabric, links, read_fabric);
  catalogue.networks = read_shipped<Network>(ProfileKind::network, links, read_network);
  catalogue.software = read_shipped<Software>(ProfileKind::software, compute, read_software);
  read_models(compute, catalogue);
  throw_if_unreadable(diagnostics, sources);
  return catalogue;
}

}  // namespace payoff
