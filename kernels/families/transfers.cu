// SPDX-License-Identifier: Apache-2.0
// Copies that engines make and no multiprocessor: from pinned memory of the host to the device and
// back, and to another device, over NVLink or PCI Express.
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"

namespace payoff::kernels {
namespace {

using HostBytes = std::shared_ptr<Byte>;

HostBytes pinned(std::size_t bytes) {
  return {static_cast<Byte*>(allocate_pinned(bytes)), release_pinned};
}

HostBytes pinned_copy(const DeviceArray<float>& values) {
  HostBytes memory = pinned(values.bytes());
  const std::vector<float> read = values.read();
  std::memcpy(memory.get(), read.data(), values.bytes());
  return memory;
}

Benchmark transfer(const char* kernel, const Shape& shape) {
  // What passes the link counts once: as much of the device's memory is read or written.
  return {point_of(kernel, "transfers", "library", shape, {}, streamed(shape.elements, 0, 4, 1)),
          bytes_of(8.0 * static_cast<double>(shape.elements)),
          {}};
}

Benchmark to_device(const Shape& shape) {
  Benchmark b = transfer("host_to_device", shape);
  b.make = [shape] {
    auto drawn = drawn_on_device(shape);
    const HostBytes host = pinned_copy(*drawn);
    auto out = array_of<float>(shape.elements);
    return Work{[=](Stream s) { transfer_in_stream(s, out->data(), host.get(), out->bytes()); },
                [=] { return differs("copied", *out, drawn->read()); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

Benchmark to_host(const Shape& shape) {
  Benchmark b = transfer("device_to_host", shape);
  b.make = [shape] {
    auto in = drawn_on_device(shape);
    const HostBytes host = pinned(in->bytes());
    const auto bytes = [=] { return std::span<const Byte>(host.get(), in->bytes()); };
    return Work{[=](Stream s) { transfer_in_stream(s, host.get(), in->data(), in->bytes()); },
                [=] { return first_difference("copied", bytes(), as_bytes(in->read())); },
                [=] {
                  const std::size_t most = std::min(in->count(), most_in_checksum);
                  return fnv1a64(bytes().first(most * sizeof(float)));
                }};
  };
  return b;
}

// The events are of the device that sends.
Benchmark to_peer(const Shape& shape) {
  Benchmark b = transfer("device_to_device", shape);
  b.needs = "a second GPU";
  b.make = [shape] {
    auto in = drawn_on_device(shape);
    const std::shared_ptr<void> there(allocate_on(1, in->bytes()), release_device);
    auto back = array_of<float>(shape.elements);
    return Work{[=](Stream s) { transfer_in_stream(s, there.get(), in->data(), in->bytes()); },
                [=] {
                  transfer_in_stream(Stream{}, back->data(), there.get(), in->bytes());
                  return differs("copied", *back, in->read());
                },
                {}};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> transfer_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  constexpr std::size_t most = std::size_t{1} << 26U;  // of memory that is pinned
  for (const Shape& shape : plan.shapes) {
    if (shape.input == InputKind::gaussian && shape.elements <= most) {
      all.push_back(to_device(shape));
      all.push_back(to_host(shape));
      all.push_back(to_peer(shape));
    }
  }
  return all;
}

}  // namespace payoff::kernels
