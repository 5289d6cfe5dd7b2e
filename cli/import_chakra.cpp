// SPDX-License-Identifier: Apache-2.0
#include "cli/import_chakra.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "cli/profile_library.hpp"
#include "profiles/precision_names.hpp"
#include "profiles/read_hardware.hpp"
#include "profiles/read_method.hpp"
#include "study/trace_compression.hpp"

namespace payoff {
namespace {

constexpr IntegerRange counts{1, 1 << 20};

std::vector<std::pair<std::string, Precision>> precision_list() {
  return {precision_names.begin(), precision_names.end()};
}

// `NAME=ROLE` or `NAME=ROLE:RANKS`; the last `=` is the sign.
std::optional<TraceGroupRole> read_role(const Argument& given, Session& session) {
  const std::size_t sign = given.text.rfind('=');
  if (sign == std::string::npos || sign == 0) {
    session.diagnostics().error(given.span, backquoted(given.text) + " is not NAME=ROLE", "",
                                "for example `--group 0=dp`");
    return std::nullopt;
  }
  const std::size_t colon = std::min(given.text.find(':', sign), given.text.size());
  const auto part = [&](std::size_t from, std::size_t to) {
    return Argument{given.text.substr(from, to - from),
                    given.index,
                    {given.span.source, given.span.offset + from, to - from}};
  };
  const Argument role = part(sign + 1, colon);
  TraceGroupRole result{given.text.substr(0, sign), TraceRole::all, 0};
  const auto named = named_value("a role of a group", role, trace_role_names(), session);
  if (!named) {
    return std::nullopt;
  }
  result.role = *named;
  if (colon < given.text.size()) {
    const Argument ranks = part(colon + 1, given.text.size());
    const auto parsed = parse_integer(ranks.text, counts);
    if (!parsed) {
      report_text_error(chakra_group_option.name, ranks, parsed.error, session);
      return std::nullopt;
    }
    result.traced_ranks = static_cast<int>(*parsed);
  }
  return result;
}

std::vector<TraceGroupRole> read_roles(const Arguments& arguments, const ChakraReport& report,
                                       Session& session) {
  std::vector<TraceGroupRole> roles;
  for (const Argument& given : arguments.values(chakra_group_option.name)) {
    const auto role = read_role(given, session);
    if (!role) {
      continue;
    }
    const bool is_there =
        role->group == "*" ||
        std::any_of(report.traces.begin(), report.traces.end(), [&](const OneChakra& one) {
          return std::any_of(one.messages.begin(), one.messages.end(),
                             [&](const TraceMessages& each) { return each.group == role->group; });
        });
    if (!is_there) {
      session.diagnostics().error(
          given.span,
          fmt::format("no message of the trace is of a group {}", backquoted(role->group)));
    }
    roles.push_back(*role);
  }
  return roles;
}

// Of the options that problems are about, the first that was given.
std::optional<Span> place_of(const Problem& problem, const Arguments& arguments) {
  const std::string own = "--" + problem.path.substr(problem.path.rfind('.') + 1);
  return span_of(arguments.first_of({own, chakra_nodes_option.name, chakra_cluster_option.name}));
}

// The data-parallel ranks are what the other degrees leave of the cluster.
bool fill(TraceJob& job, std::int64_t nodes, const Arguments& arguments, Session& session) {
  const std::int64_t replica = std::int64_t{job.layout.tp} * job.layout.cp * job.layout.pp;
  const std::optional<Span> place =
      span_of(arguments.first_of({chakra_nodes_option.name, chakra_cluster_option.name}));
  if (nodes < 1 || nodes > counts.max / job.cluster.gpus_per_node) {
    session.diagnostics().error(
        place, fmt::format("{} nodes of {} GPUs: 1 to {} ranks are modelled", nodes,
                           job.cluster.gpus_per_node, counts.max));
    return false;
  }
  const std::int64_t ranks = nodes * job.cluster.gpus_per_node;
  if (ranks % replica != 0) {
    session.diagnostics().error(
        place, fmt::format("tp {} x cp {} x pp {} does not divide {} ranks", job.layout.tp,
                           job.layout.cp, job.layout.pp, ranks));
    return false;
  }
  job.cluster.nodes = static_cast<int>(nodes);
  job.layout.dp = static_cast<int>(ranks / replica);
  return true;
}

// A method to compress the trace's gradients with.
struct AskedCodec {
  std::string label;
  Span span;
  Method method;
};

std::vector<AskedCodec> read_codecs(const Arguments& arguments, const ReadContext& context) {
  std::vector<AskedCodec> codecs;
  for (const Argument& given : arguments.values(chakra_compress_option.name)) {
    const auto read = read_plan(given.span, context);
    if (!read || !read->plan.compresses()) {
      continue;
    }
    const CompressionPlan& plan = read->plan;
    const bool other = !plan.method || plan.methods().size() > 1 || plan.chooses_buckets() ||
                       plan.placement != Placement::compute_stream || !plan.overlap;
    if (other) {
      context.diagnostics.error(given.span,
                                "of a trace, one method compresses the gradients, on the stream "
                                "that computes",
                                "", "`payoff predict` compares the other strategies");
      continue;
    }
    codecs.push_back({plan.label, given.span, *plan.method});
  }
  return codecs;
}

void scale(OneChakra& one, const TraceJob& job, const std::vector<AskedCodec>& codecs,
           const Arguments& arguments, Session& session) {
  const Problems problems = check_trace_job(one.trace, one.messages, job);
  for (const Problem& problem : problems) {
    session.diagnostics().error(place_of(problem, arguments), problem.message, "",
                                problem.help.empty() ? "" : backquoted(problem.help));
  }
  if (!problems.empty()) {
    return;
  }
  ScaledTrace& scaled = one.scales.emplace_back(ScaledTrace{
      job.cluster.nodes, job.layout.ranks(), reprice(one.trace, one.messages, job), {}});
  const auto gradient = arguments.value(chakra_gradient_option.name);
  const Precision element =
      gradient
          ? named_value("a format", *gradient, precision_list(), session).value_or(Precision::fp32)
          : Precision::fp32;
  for (const AskedCodec& asked : codecs) {
    const TraceCodec codec{asked.method, element, element};
    const Problems of_codec = check_trace_codec(one.messages, job, codec);
    for (const Problem& problem : of_codec) {
      session.diagnostics().error(asked.span, problem.message, "", problem.help);
    }
    if (of_codec.empty()) {
      scaled.compressed.push_back({asked.label, reprice(one.trace, one.messages, job, codec)});
    }
  }
}

void refuse_without_cluster(const Arguments& arguments, Session& session) {
  for (const char* option :
       {"--nodes", "--pp", "--tp", "--cp", "--ep", "--group", "--compress", "--gradient"}) {
    if (const auto given = arguments.value(option)) {
      session.diagnostics().error(given->span, fmt::format("`{}` needs --cluster", option), "",
                                  "`payoff profiles list cluster` names them");
    }
  }
}

ParallelLayout degrees_of(const Arguments& arguments, Session& session) {
  const auto degree = [&](std::string_view option) {
    return integer_value(arguments, option, counts, session).value_or(1);
  };
  ParallelLayout layout;
  layout.tp = degree("--tp");
  layout.cp = degree("--cp");
  layout.pp = degree("--pp");
  layout.ep = degree("--ep");
  return layout;
}

}  // namespace

void scale_traces(const Arguments& arguments, ChakraReport& report, Session& session) {
  const auto asked = arguments.value(chakra_cluster_option.name);
  if (!asked) {
    refuse_without_cluster(arguments, session);
    return;
  }
  const Library library = find_library();
  const ReadContext context{library, session.sources(), session.diagnostics()};
  const auto cluster = read_cluster(asked->text, asked->span, context);
  const std::vector<AskedCodec> codecs = read_codecs(arguments, context);
  TraceJob job;
  job.layout = degrees_of(arguments, session);
  job.roles = read_roles(arguments, report, session);
  const std::vector<std::int64_t> nodes =
      series_value<std::int64_t>(arguments, chakra_nodes_option.name, "1", session);
  if (!cluster || session.diagnostics().has_errors()) {
    return;
  }
  job.cluster = cluster->value;
  report.cluster = asked->text;
  for (const std::int64_t each : nodes) {
    if (!fill(job, each, arguments, session)) {
      return;
    }
    for (OneChakra& one : report.traces) {
      scale(one, job, codecs, arguments, session);
    }
    if (session.diagnostics().has_errors()) {
      return;  // other numbers of nodes would say the same
    }
  }
}

std::string chakra_observation(const OneChakra& one) {
  if (!tells_starts(one.trace)) {
    return "";
  }
  const TraceTimes told = told_times(one.trace);
  return told.wall > 0_s
             ? fmt::format("step={:.3f}us,exposed={:.3f}us", told.wall / 1_us / one.steps,
                           told.exposed / 1_us / one.steps)
             : "";
}

}  // namespace payoff
