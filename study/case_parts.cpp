// SPDX-License-Identifier: Apache-2.0
#include "study/case_parts.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace payoff {

Band parameters_band(const PreparedExperiment& prepared) {
  const std::int64_t parameters =
      prepared.workload().parameters() * prepared.experiment().layout.tp;
  const auto millions = static_cast<double>(parameters) * 1e-6;
  return millions < 100    ? Band{0, "below 100 M parameters"}
         : millions < 1000 ? Band{1, "100 M to 1 G parameters"}
         : millions < 1e4  ? Band{2, "1 G to 10 G parameters"}
                           : Band{3, "from 10 G parameters"};
}

std::vector<std::pair<std::string, double>> terms_of(const Waterfall& w) {
  const std::array<std::pair<std::string_view, Seconds>, 18> all{{
      {"forward", w.forward},
      {"recompute", w.recompute},
      {"backward", w.backward},
      {"interference", w.interference},
      {"encode", w.encode},
      {"decode", w.decode},
      {"bucket copies", w.bucket_copy},
      {"exposed tp", w.exposed_tp},
      {"exposed cp", w.exposed_cp},
      {"exposed ep", w.exposed_ep},
      {"exposed pp", w.exposed_pp},
      {"exposed dp", w.exposed_dp},
      {"bubble", w.bubble},
      {"optimizer", w.optimizer},
      {"host", w.host},
      {"host jitter", w.host_jitter},
      {"data stall", w.data_stall},
      {"checkpoint", w.checkpoint},
  }};
  std::vector<std::pair<std::string, double>> terms;
  for (const auto& [term, time] : all) {
    if (time > Seconds{}) {
      terms.emplace_back(term, time / 1_s);
    }
  }
  return terms;
}

CaseSubject subject_of(const Experiment& experiment, const CompressionPlan& plan) {
  const Cluster& cluster = experiment.cluster;
  CaseSubject subject;
  subject.gpu = cluster.gpu.name;
  subject.fabric = cluster.gpus_per_node > 1 ? cluster.fabric.name : "";
  subject.network = cluster.nodes > 1 ? cluster.network.name : "";
  subject.software = experiment.software.name;
  subject.method = plan.method ? plan.method->name : "";
  subject.gpus = cluster.gpus();
  subject.nodes = cluster.nodes;
  return subject;
}

}  // namespace payoff
