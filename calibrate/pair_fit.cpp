// SPDX-License-Identifier: Apache-2.0
#include "calibrate/pair_fit.hpp"

#include <algorithm>
#include <cmath>

#include "model/interference.hpp"
#include "model/kernel_waves.hpp"

namespace payoff {
namespace {

// Of what the memory gives: with less than this to spare it is the memory that slows.
constexpr double full_memory = 0.95;
// A law that gives hardly any slow-down has no share to be measured.
constexpr double least_slowdown = 1.02;

constexpr std::array<PairKind, 4> pair_kinds{
    PairKind::compute_beside_codec, PairKind::codec_beside_compute,
    PairKind::compute_beside_message, PairKind::codec_beside_message};

const PairMember* of_role(const PairRun& run, PairRole role) {
  const auto found = std::find_if(run.begin(), run.end(),
                                  [&](const PairMember& member) { return member.role == role; });
  return found == run.end() ? nullptr : &*found;
}

double memory_share(const PairMember* member) {
  return member == nullptr ? 0.0 : member->memory_share;
}

// What runs at once, and the units that are left to it.
class Shared {
 public:
  Shared(const PairRun& run, int units, const PairLaws& laws)
      : compute_(of_role(run, PairRole::compute)),
        codec_(of_role(run, PairRole::codec)),
        message_(of_role(run, PairRole::message)),
        copies_(memory_share(of_role(run, PairRole::copies))),
        held_(message_ == nullptr ? 0.0 : reserved_share(message_->held, units)) {
    WaveTable waves(units, laws.compute_beside_message);
    KernelMix mix{1_s, {}};
    if (compute_ != nullptr && compute_->blocks > 0) {
      mix.known.push_back({compute_->blocks, 1_s});
    }
    const std::size_t number = waves.add(mix);
    const Pace pace = compute_ != nullptr ? waves.paces(held_)[number] : Pace();
    idle_ = pace.idle_share;
    by_units_ =
        stream_rates(compute_ != nullptr, codec_ != nullptr, held_, {0.5, laws}, pace.rate, idle_);
  }

  [[nodiscard]] StreamRates by_units() const { return by_units_; }

  [[nodiscard]] StreamRates rates() const {
    const double room = memory_room(memory_share(message_), held_) - copies_;
    return within_memory(by_units_, memory_share(compute_), memory_share(codec_), room, idle_);
  }

  [[nodiscard]] double rate_of_message() const {
    const StreamRates work = rates();
    const double demand =
        copies_ + work.compute * memory_share(compute_) + work.codec * memory_share(codec_);
    return message_rate(demand, memory_share(message_), held_);
  }

 private:
  const PairMember* compute_;
  const PairMember* codec_;
  const PairMember* message_;
  double copies_;
  double held_;
  double idle_{};
  StreamRates by_units_;
};

std::string title_of(const PairRun& run, std::size_t member) {
  std::string title = run[member].title;
  for (std::size_t i = 0; i < run.size(); ++i) {
    title += i == member ? "" : " beside " + run[i].title;
  }
  return title;
}

std::optional<PairKind> kind_of(PairRole work, PairRole beside) {
  if (work == PairRole::compute) {
    return beside == PairRole::codec     ? std::optional(PairKind::compute_beside_codec)
           : beside == PairRole::message ? std::optional(PairKind::compute_beside_message)
                                         : std::nullopt;
  }
  if (work == PairRole::codec) {
    return beside == PairRole::compute   ? std::optional(PairKind::codec_beside_compute)
           : beside == PairRole::message ? std::optional(PairKind::codec_beside_message)
                                         : std::nullopt;
  }
  return std::nullopt;
}

// As long as the memory has room for what all members were seen to take.
bool is_by_units(const PairRun& run) {
  double taken = 0.0;
  for (const PairMember& member : run) {
    taken += member.memory_share / member.slowdown();
  }
  return taken < full_memory;
}

double by_units(const PairRun& run, PairRole role, int units) {
  const StreamRates rates = Shared(run, units, {}).by_units();
  return 1.0 / (role == PairRole::compute ? rates.compute : rates.codec);
}

// How much longer one member takes beside all others of its run, by the law as both engines have
// it, with the share of each kind that `laws` has.
double predicted_slowdown(const PairRun& run, std::size_t member, int units, const PairLaws& laws) {
  const Shared shared(run, units, laws);
  switch (run[member].role) {
    case PairRole::compute:
      return 1.0 / shared.rates().compute;
    case PairRole::codec:
      return 1.0 / shared.rates().codec;
    case PairRole::message:
      return 1.0 / shared.rate_of_message();
    default:
      return 1.0;  // a copy engine waits for nobody
  }
}

// What the slow-down of a kind depends on, in one of its pairs.
double beside_of(PairKind kind, const PairRun& run, int units) {
  return is_beside_message(kind) ? reserved_share(of_role(run, PairRole::message)->held, units)
                                 : memory_share(of_role(run, PairRole::codec));
}

// Of the pairs of one kind.
struct ShareSeen {
  double share{};
  double weight{};
};
struct SharesSeen {
  std::vector<ShareSeen> shares;
  FitRange<double> beside;
};

// The mean of the shares, the deviation of the mean, and that from pair to pair. What a time is off
// by moves the share of a slow-down of 3 % ten times as far as that of one of 30 %: the weights are
// those of a straight line of slow-downs seen over slow-downs by law. Deviations are taken from the
// pairs, whatever they scatter by, and corrected for how many count.
std::optional<PairFit> fit_kind(PairKind kind, const SharesSeen& seen) {
  const std::vector<ShareSeen>& shares = seen.shares;
  if (shares.size() < fewest_pairs) {
    return std::nullopt;
  }
  double weights = 0.0;
  double mean = 0.0;
  for (const ShareSeen& each : shares) {
    weights += each.weight;
    mean += each.weight * each.share;
  }
  mean /= weights;
  double spread = 0.0;
  double of_mean = 0.0;
  double in_one = 0.0;  // of all weights, were they one pair's
  for (const ShareSeen& each : shares) {
    const double part = each.weight / weights;
    const double square = (each.share - mean) * (each.share - mean);
    spread += part * square;
    of_mean += part * part * square;
    in_one += part * part;
  }
  return PairFit{kind,
                 shares.size(),
                 std::max(0.0, mean),
                 std::sqrt(of_mean / (1.0 - in_one)),
                 std::sqrt(spread / (1.0 - in_one)),
                 seen.beside};
}

}  // namespace

std::string_view name(PairKind kind) {
  constexpr std::array<std::string_view, 4> names{"compute_beside_codec", "codec_beside_compute",
                                                  "compute_beside_message", "codec_beside_message"};
  return names.at(static_cast<std::size_t>(kind));
}

bool is_beside_message(PairKind kind) {
  return kind == PairKind::compute_beside_message || kind == PairKind::codec_beside_message;
}

PairLaws PairFits::laws() const {
  PairLaws laws;
  const std::array<PairLaw*, 4> of_kind{&laws.compute_beside_codec, &laws.codec_beside_compute,
                                        &laws.compute_beside_message, &laws.codec_beside_message};
  for (const PairFit& fit : fits) {
    *of_kind.at(static_cast<std::size_t>(fit.kind)) = {fit.share, fit.spread, true, fit.beside};
  }
  return laws;
}

PairFits fit_pairs(std::span<const PairRun> runs, int units) {
  PairFits result;
  std::array<SharesSeen, pair_kinds.size()> seen_of;
  for (const PairRun& run : runs) {
    for (std::size_t i = 0; i < run.size(); ++i) {
      PairObservation seen{title_of(run, i), {}, run[i].slowdown(), 0.0, 0.0};
      seen.by_law = predicted_slowdown(run, i, units, {});
      const auto kind = run.size() == 2 ? kind_of(run[i].role, run[1 - i].role) : std::nullopt;
      const double law = kind ? by_units(run, run[i].role, units) : 1.0;
      if (law >= least_slowdown && is_by_units(run)) {
        seen.kind = kind;
        SharesSeen& of_kind = seen_of.at(static_cast<std::size_t>(*kind));
        of_kind.shares.push_back({(seen.seen - 1.0) / (law - 1.0), (law - 1.0) * (law - 1.0)});
        of_kind.beside.include(beside_of(*kind, run, units));
      }
      result.observations.push_back(std::move(seen));
    }
  }
  for (const PairKind kind : pair_kinds) {
    if (auto fit = fit_kind(kind, seen_of.at(static_cast<std::size_t>(kind)))) {
      result.fits.push_back(*fit);
    }
  }
  const PairLaws laws = result.laws();
  std::size_t next = 0;
  for (const PairRun& run : runs) {
    for (std::size_t i = 0; i < run.size(); ++i) {
      result.observations[next++].fitted = predicted_slowdown(run, i, units, laws);
    }
  }
  return result;
}

}  // namespace payoff
