// SPDX-License-Identifier: Apache-2.0
#include "cli/training_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/facts_read.hpp"
#include "cli/option_values.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "profiles/node_ranges.hpp"

namespace payoff {
namespace {

std::string energy_text(double kwh) {
  return kwh < 1000 ? significant(kwh) + " kWh" : significant(kwh / 1000) + " MWh";
}

std::string numbers_sentence(const Experiment& experiment, const TrainingWork& work, Seconds step) {
  const TrainingNumbers numbers = training_numbers(experiment, work, step);
  std::string text =
      fmt::format("Uncompressed: {} samples/s", number_text(numbers.samples_per_second));
  if (work.tokens > 1) {
    text += fmt::format(", {} tokens/s", number_text(numbers.tokens_per_second));
  }
  text += fmt::format(", {} a GPU", to_text(numbers.model_rate_per_gpu));
  if (numbers.model_utilisation_ratio) {
    text += fmt::format(": MFU {}", percent_text(*numbers.model_utilisation_ratio));
    if (work.hardware > work.model) {
      text += fmt::format(", HFU {} with what is computed again",
                          percent_text(*numbers.hardware_utilisation_ratio));
    }
  }
  return text + ".\n";
}

// What the numbers of the machine rest on, those that nobody stated on the command line.
std::string sources_sentence(const Facts& facts, const TrainingQuestion& question) {
  std::string text;
  for (const auto& [path, what] : {std::pair("cluster.price", "price of a node"),
                                   std::pair("cluster.gpu.power", "power of a GPU")}) {
    const bool stated = path == std::string_view("cluster.price") && question.price > Price{};
    for (const Fact& fact : facts) {
      if (path_of_one_kind(fact.path) == path && !stated) {
        text += fmt::format("{}{} {} ({})", text.empty() ? "From the profiles: " : ", ", what,
                            fact.value_text, name_of(fact.kind));
      }
    }
  }
  return text.empty() ? text : text + ".\n";
}

std::string runs_table(const Experiment& experiment, const TrainingWork& work, const Payoff& payoff,
                       const TrainingQuestion& question, const Facts& facts) {
  const Price price = price_of(experiment, question);
  const bool images = work.tokens <= 1;
  Table table({{fmt::format("{} {}", number_text(*question.tokens), images ? "samples" : "tokens"),
                Align::left},
               {"steps", Align::right},
               {"time", Align::right},
               {"GPU hours", Align::right},
               {"energy", Align::right},
               {"cost", Align::right}});
  for (const PlanPayoff& plan : payoff.plans) {
    const TrainingRun run =
        training_run(experiment, work, plan.prediction.step, *question.tokens, price);
    table.add({&plan == &payoff.plans.front() ? "uncompressed" : plan.label, fixed(run.steps, 0),
               long_time_text(run.time), number_text(run.gpu_hours),
               run.energy_kwh ? energy_text(*run.energy_kwh) : "not known",
               run.cost_usd ? number_text(*run.cost_usd) + " USD" : "no price"});
  }
  return table.markdown() + "\nAs many iterations for every strategy; energy: the GPUs at their " +
         "power limit, without hosts, network and cooling" +
         (price > Price{} ? "" : "; --price '10 USD/h' gives what a node costs") + ".\n" +
         sources_sentence(facts, question);
}

}  // namespace

Price price_of(const Experiment& experiment, const TrainingQuestion& question) {
  return question.price > Price{} ? question.price : experiment.cluster.price;
}

std::string long_time_text(Seconds time) {
  constexpr Seconds hour = 3600_s;
  if (time < hour) {
    return to_text(time);
  }
  return time < 48 * hour ? significant(time / hour) + " h" : significant(time / hour / 24) + " d";
}

std::optional<Price> read_price(const Arguments& arguments, Session& session) {
  return quantity_value(arguments, price_option.name, node_prices, session);
}

TrainingQuestion read_training_question(const Arguments& arguments, Session& session) {
  TrainingQuestion question;
  question.tokens = number_value(arguments, tokens_option.name, {.min = 1, .max = 1e18}, session);
  question.price = read_price(arguments, session).value_or(Price{});
  if (const auto price = arguments.value(price_option.name);
      price && !arguments.has(tokens_option.name)) {
    session.diagnostics().error(price->span, "`--price` without --tokens prices nothing", {},
                                "add --tokens 300e9, or as many as are trained on");
  }
  if (arguments.has(network_price_option.name)) {
    question.usd_per_gbps =
        number_value(arguments, network_price_option.name, {.min = 1e-6, .max = 1e9}, session);
    if (!arguments.has(tokens_option.name)) {
      session.diagnostics().error(arguments.value(network_price_option.name)->span,
                                  "`--network-price` without --tokens compares with nothing", {},
                                  "add --tokens 300e9, or as many as are trained on");
    }
  }
  return question;
}

std::string training_text(const Experiment& experiment, const Payoff& payoff,
                          const TrainingQuestion& question, const Facts& facts) {
  const TrainingWork work = training_work(experiment);
  std::string text = numbers_sentence(experiment, work, payoff.plans.front().prediction.step);
  if (question.tokens) {
    text += "\n" + runs_table(experiment, work, payoff, question, facts);
  }
  return text;
}

nlohmann::ordered_json training_json(const Experiment& experiment, Seconds step,
                                     const TrainingQuestion& question) {
  using Json = nlohmann::ordered_json;
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  const TrainingWork work = training_work(experiment);
  const TrainingNumbers numbers = training_numbers(experiment, work, step);
  Json json{
      {"samples_per_second", numbers.samples_per_second},
      {"tokens_per_second", work.tokens > 1 ? Json(numbers.tokens_per_second) : Json(nullptr)},
      {"model_flops_per_second_per_gpu", numbers.model_rate_per_gpu.si},
      {"hardware_flops_per_second_per_gpu", numbers.hardware_rate_per_gpu.si},
      {"mfu_ratio", number(numbers.model_utilisation_ratio)},
      {"hfu_ratio", number(numbers.hardware_utilisation_ratio)},
      {"run", nullptr}};
  if (question.tokens) {
    const TrainingRun run =
        training_run(experiment, work, step, *question.tokens, price_of(experiment, question));
    json["run"] = {{"tokens", *question.tokens},           {"steps", run.steps},
                   {"time_seconds", run.time.si},          {"gpu_hours", run.gpu_hours},
                   {"energy_kwh", number(run.energy_kwh)}, {"cost_usd", number(run.cost_usd)}};
  }
  return json;
}

}  // namespace payoff
