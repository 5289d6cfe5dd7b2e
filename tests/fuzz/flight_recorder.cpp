// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/flight_recorder.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {

std::string read_flight_dump(std::string_view input) {
  Reading reading;
  FlightRecorderReader reader(reading.sources(), reading.diagnostics());
  reader.read(std::string(input), "input");
  const NcclDebugLog log = reader.finish();
  std::string text = reading.verdict();
  std::int64_t calls = 0;
  for (const LoggedMessages& message : log.messages) {
    if (message.groups >= log.groups.size()) {
      broken("a message is one of a group that is told");
    }
    if (!std::isfinite(message.size.si) || message.size < Bytes{}) {
      broken("a message has a size");
    }
    calls += message.calls;
    text += std::to_string(message.size.si) + " ";
  }
  if (calls != log.calls) {
    broken("every call is counted once");
  }
  return text;
}

}  // namespace payoff::fuzz
