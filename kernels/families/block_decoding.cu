// SPDX-License-Identifier: Apache-2.0
// Block formats back to floats: by one kernel, and as casts and products of a framework.
#include "kernels/families/block_formats.cuh"
#include "kernels/families/families.hpp"

namespace payoff::kernels {
namespace {

// A message of the reference's bytes on the device, and what it stands for.
template <typename Format>
struct Received {
  Shared<float> in;
  BlockMessage<typename Format::Scale> message;
  Shared<float> out;

  explicit Received(const Shape& shape)
      : in(drawn_on_device(shape)),
        message(message_of<Format>(shape.elements)),
        out(array_of<float>(shape.elements)) {
    Format::encode(Stream{}, in->data(), message, shape.elements);
    wait_for(Stream{});
  }

  [[nodiscard]] std::string mismatch() const {
    return differs("values", *out, Format::decoded(Format::reference(in->read()), out->count()));
  }
};

template <typename Format>
[[nodiscard]] std::string name_of_decoding() {
  return std::string(Format::name) + "_decode";
}

template <typename Format>
Benchmark decoding(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, message_bytes<Format>(), 4, 1);
  Benchmark b{point_of(name_of_decoding<Format>(), "blocks", "fused", shape,
                       parameters_of_blocks<Format>(), traffic),
              bytes_of((8.0 + message_bytes<Format>()) * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    const Received<Format> r(shape);
    return Work{[=](Stream s) {
                  launch_threads(s, divided_up(n, pack_values),
                                 decode_blocks<typename Format::Blocks>, r.message.codes->data(),
                                 Format::blocks(r.message), r.out->data(), n);
                },
                [r] { return r.mismatch(); }, [r] { return checksum_of(*r.out); }};
  };
  return b;
}

// Unpacking below 8 bits, the cast, the scales' factors where they are no floats, the product.
template <typename Format>
Benchmark decoding_by_operators(const Shape& shape) {
  constexpr bool packed = Format::Blocks::bits < 8;
  constexpr bool stored = sizeof(typename Format::Scale) == 1;
  const double factors = 4.0 / static_cast<double>(Format::Blocks::block);
  const Traffic traffic = streamed(
      shape.elements, (packed ? 1.0 : 0.0) + message_bytes<Format>() + 4 + (stored ? factors : 0),
      (packed ? 1.0 : 0.0) + 8 + (stored ? factors : 0), 2 + (packed ? 1 : 0) + (stored ? 1 : 0));
  Benchmark b{
      point_of(name_of_decoding<Format>(), "blocks", "framework_ops", shape,
               parameters_of_blocks<Format>(), traffic),
      bytes_of((13.0 + factors + message_bytes<Format>()) * static_cast<double>(shape.elements)),
      {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    const Received<Format> r(shape);
    auto codes = packed ? array_of<Byte>(n) : r.message.codes;
    auto values = array_of<float>(n);
    auto factor = array_of<float>(r.message.scales->count());
    return Work{
        [=](Stream s) {
          if constexpr (packed) {
            launch_threads(s, divided_up(n, pack_values), unpack_codes<Format::Blocks::bits>,
                           r.message.codes->data(), codes->data(), n);
          }
          map<4>(s, codes->data(), values->data(), n, CodeToFloat<Format::Blocks::format>{});
          const float* factors_found = nullptr;
          if constexpr (stored) {
            launch_threads(s, factor->count(), factors_of_blocks<typename Format::Blocks>,
                           Format::blocks(r.message), factor->data(), factor->count());
            factors_found = factor->data();
          } else {
            factors_found = r.message.scales->data();
          }
          map<4>(s, values->data(), r.out->data(), n,
                 TimesGroupFactor{factors_found, Format::Blocks::block});
        },
        [r] { return r.mismatch(); }, [r] { return checksum_of(*r.out); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> block_decoding_benchmarks(const Plan& plan) {
  return of_block_formats(plan, [](auto format, const Shape& shape, std::vector<Benchmark>& all) {
    all.push_back(decoding<decltype(format)>(shape));
    all.push_back(decoding_by_operators<decltype(format)>(shape));
  });
}

}  // namespace payoff::kernels
