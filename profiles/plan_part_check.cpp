// SPDX-License-Identifier: Apache-2.0
#include "profiles/plan_part_check.hpp"

#include <algorithm>
#include <string>

#include "model/across_nodes.hpp"
#include "model/size_threshold.hpp"
#include "profiles/plan_graph.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

// What a method compresses unless the plan says otherwise: gradients, if it can.
void check_traffic(const PlanPiece& method, PlanPart& part, Diagnostics& diagnostics) {
  const bool asked = part.traffic_span.has_value();
  if (!asked) {
    part.traffic.push_back(Traffic::dp_gradients);
  }
  for (const Traffic traffic : part.traffic) {
    const std::string name(name_of(traffic));
    const bool known = std::find(part.notes.traffic.begin(), part.notes.traffic.end(), name) !=
                       part.notes.traffic.end();
    if (!known && !part.notes.traffic.empty()) {
      diagnostics.error(asked ? *part.traffic_span : method.span,
                        backquoted(method.text) + " does not compress " + name, "",
                        "it compresses: " + listed(part.notes.traffic) +
                            (asked ? "" : "; write `traffic=` and which"));
    }
  }
}

// Options that mean nothing for what is compressed.
void check_options(const PlanPart& part, Diagnostics& diagnostics) {
  const bool gradients = std::find(part.traffic.begin(), part.traffic.end(),
                                   Traffic::dp_gradients) != part.traffic.end();
  const bool weights = std::find(part.traffic.begin(), part.traffic.end(), Traffic::dp_weights) !=
                       part.traffic.end();
  const bool activations =
      std::any_of(part.traffic.begin(), part.traffic.end(), [](Traffic traffic) {
        return traffic != Traffic::dp_gradients && traffic != Traffic::dp_weights;
      });
  for (const auto& [name, span] : part.options) {
    const bool of_activations = name == "directions" || name == "layers";
    if (name == "copy_in_node") {
      if (!weights) {
        diagnostics.error(span,
                          "`copy_in_node` is of weights that are gathered, and none are compressed",
                          "", "add `traffic=dp_weights`");
      }
    } else if (of_activations && !activations) {
      diagnostics.error(span,
                        backquoted(name) +
                            " is of activations, and only gradients of data "
                            "parallelism are compressed",
                        "",
                        "add `traffic=`: tp_activations, pp_activations, ep_dispatch, ep_combine "
                        "or embeddings");
    } else if (!of_activations && !gradients) {
      diagnostics.error(span,
                        backquoted(name) +
                            " is of gradients of data parallelism: "
                            "activations are waited for",
                        "", "leave it out");
    }
  }
}

// The method between nodes alone, where that is asked for and possible.
void keep_to_nodes(const WrittenPlan& written, PlanPart& part, Diagnostics& diagnostics) {
  const std::string why = not_across_nodes(part.method);
  if (why.empty()) {
    part.method = across_nodes(part.method);
  } else {
    diagnostics.error(part.options.at("among"), backquoted(written.method.text) + " " + why, "",
                      "leave `among` out");
  }
}

}  // namespace

void check_part(const WrittenPlan& written, PlanPart& part, Diagnostics& diagnostics) {
  check_traffic(written.method, part, diagnostics);
  check_options(part, diagnostics);
  check_graph_options(written, part, diagnostics);
}

void change_method(const WrittenPlan& written, PlanPart& part, Diagnostics& diagnostics) {
  if (part.among_nodes) {
    keep_to_nodes(written, part, diagnostics);
  }
  if (part.smallest > 0_B) {
    part.method = from_size(part.method, part.smallest);
  }
}

}  // namespace payoff
