// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "model/decimal_text.hpp"
#include "study/payoff.hpp"
#include "web/what_if.hpp"

// JSON without a library, for the page: flat objects of numbers and short texts.

namespace payoff::web {
namespace {

class JsonText {
 public:
  void open(char bracket) { separate(), text_ += bracket, first_ = true; }
  void close(char bracket) { text_ += bracket, first_ = false; }
  void key(std::string_view name) {
    separate();
    quote(name);
    text_ += ':';
    first_ = true;
  }
  void value(double number) {
    separate();
    detail::DecimalBuffer buffer{};
    text_ += std::isfinite(number) ? detail::write_shortest(buffer, number) : "null";
  }
  void value(bool truth) { separate(), text_ += truth ? "true" : "false"; }
  void value(std::string_view text) { separate(), quote(text); }
  template <typename T>
  void member(std::string_view name, T of) {
    key(name);
    value(of);
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  void separate() {
    if (!first_) {
      text_ += ',';
    }
    first_ = false;
  }
  void quote(std::string_view text) {
    text_ += '"';
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20) {
        std::array<char, 8> escape{};
        std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
        text_ += escape.data();
        continue;
      }
      if (c == '"' || c == '\\') {
        text_ += '\\';
      }
      text_ += c;
    }
    text_ += '"';
  }

  std::string text_;
  bool first_ = true;
};

void write(const Waterfall& w, JsonText& json) {
  const std::pair<const char*, Seconds> terms[] = {
      {"forward_seconds", w.forward},
      {"recompute_seconds", w.recompute},
      {"backward_seconds", w.backward},
      {"interference_seconds", w.interference},
      {"encode_seconds", w.encode},
      {"decode_seconds", w.decode},
      {"bucket_copy_seconds", w.bucket_copy},
      {"exposed_tp_seconds", w.exposed_tp},
      {"exposed_cp_seconds", w.exposed_cp},
      {"exposed_ep_seconds", w.exposed_ep},
      {"exposed_pp_seconds", w.exposed_pp},
      {"exposed_dp_seconds", w.exposed_dp},
      {"bubble_seconds", w.bubble},
      {"optimizer_seconds", w.optimizer},
      {"host_seconds", w.host},
  };
  json.open('{');
  for (const auto& [name, time] : terms) {
    json.member(name, time.si);
  }
  json.close('}');
}

void write(const Memory& memory, JsonText& json) {
  json.open('{');
  json.member("total_bytes", memory.total().si);
  json.member("capacity_bytes", memory.capacity.si);
  json.member("fits", memory.fits());
  json.close('}');
}

void write(const Comparison& comparison, JsonText& json) {
  json.open('{');
  json.member("speedup", comparison.speedup);
  json.member("speedup_low", comparison.speedup_low);
  json.member("speedup_high", comparison.speedup_high);
  json.member("probability", comparison.probability);
  json.member("verdict", name(comparison.verdict()));
  json.close('}');
}

void write_step(const StepPrediction& step, JsonText& json) {
  json.member("step_seconds", step.step.si);
  json.key("waterfall");
  write(step.waterfall, json);
  json.member("dp_communication_seconds", step.dp_communication.si);
  json.member("hidden_dp_seconds", step.hidden_dp.si);
  json.member("dp_bytes", step.dp_bytes.si);
  json.key("memory");
  write(step.memory, json);
}

void write(const PlanPayoff& plan, bool compresses, JsonText& json) {
  json.open('{');
  json.member("label", std::string_view(plan.label));
  write_step(plan.prediction, json);
  json.member("step_low_seconds", plan.step_low.si);
  json.member("step_high_seconds", plan.step_high.si);
  json.key("against_uncompressed");
  write(plan.against_uncompressed, json);
  json.key("against_remedy");
  write(plan.against_remedy, json);
  if (compresses) {
    json.member("verdict", name(Payoff::verdict_of(plan)));
  }
  json.close('}');
}

void write(const Problems& problems, JsonText& json) {
  json.open('[');
  for (const Problem& problem : problems) {
    json.open('{');
    json.member("path", std::string_view(problem.path));
    json.member("message", std::string_view(problem.message));
    json.member("help", std::string_view(problem.help));
    json.close('}');
  }
  json.close(']');
}

void write(const Payoff& payoff, JsonText& json) {
  json.key("plans");
  json.open('[');
  for (const PlanPayoff& plan : payoff.plans) {
    write(plan, &plan != &payoff.plans.front(), json);
  }
  json.close(']');
  json.key("remedy");
  json.open('{');
  json.member("description", std::string_view(payoff.remedy.description));
  write_step(payoff.remedy.prediction, json);
  json.member("batches", payoff.remedy.batches);
  json.key("against_uncompressed");
  write(payoff.remedy_gain, json);
  json.close('}');
  json.member("verdict", name(payoff.overall_verdict()));
}

}  // namespace

std::string answer_json(const Answer& answer) {
  JsonText json;
  json.open('{');
  json.key("problems");
  write(answer.problems, json);
  if (answer.problems.empty()) {
    json.member("gpus", static_cast<double>(answer.gpus));
    json.member("nodes", static_cast<double>(answer.nodes));
    json.member("gradient_bytes", answer.gradient_bytes.si);
    write(answer.payoff, json);
  }
  json.close('}');
  return std::move(json).text();
}

}  // namespace payoff::web
