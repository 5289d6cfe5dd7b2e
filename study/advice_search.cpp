// SPDX-License-Identifier: Apache-2.0
#include "study/advice_search.hpp"

namespace payoff {

KindChoice best_of_all(const KindChoice& options, const StepOfChoice& step_of) {
  KindChoice best(options.size());
  Seconds shortest = step_of(best);
  KindChoice choice = best;
  const auto next = [&] {
    for (std::size_t kind = choice.size(); kind-- > 0;) {
      if (choice[kind]++ < options[kind]) {
        return true;
      }
      choice[kind] = 0;
    }
    return false;
  };
  while (next()) {
    const Seconds step = step_of(choice);
    if (step < shortest) {
      shortest = step;
      best = choice;
    }
  }
  return best;
}

KindChoice improved_by_kinds(const KindChoice& options, const StepOfChoice& step_of) {
  KindChoice best(options.size());
  Seconds shortest = step_of(best);
  for (bool changes = true; changes;) {
    changes = false;
    const KindChoice from = best;
    for (std::size_t kind = 0; kind < from.size(); ++kind) {
      KindChoice choice = from;
      for (std::size_t option = 0; option <= options[kind]; ++option) {
        choice[kind] = option;
        const Seconds step = choice == from ? shortest : step_of(choice);
        if (step < shortest) {
          shortest = step;
          best = choice;
          changes = true;
        }
      }
    }
  }
  return best;
}

}  // namespace payoff
