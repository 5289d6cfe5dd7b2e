// SPDX-License-Identifier: Apache-2.0
// Signs: packing, error feedback, unpacking, the majority of several workers.
#include "kernels/device/signs.cuh"
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/families/operators.cuh"
#include "kernels/reference/signs_and_sums.hpp"

namespace payoff::kernels {
namespace {

[[nodiscard]] std::size_t warp_threads(std::size_t count) {
  return divided_up(count, signs_per_warp) * warp_lanes;
}
[[nodiscard]] std::size_t words_of(std::size_t count) { return divided_up(count, signs_per_word); }

Benchmark sign_pack(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, 4, 0.125, 1);
  Benchmark b{point_of("sign_pack", "signs", "fused", shape, {}, traffic),
              traffic.read + traffic.written,
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto words = array_of<Word>(words_of(n));
    return Work{[=](Stream s) {
                  launch_threads(s, warp_threads(n), pack_sign_bits, in->data(), words->data(), n);
                },
                [=] { return differs("words", *words, pack_signs(in->read())); },
                [=] { return checksum_of(*words); }};
  };
  return b;
}

// A comparison to a byte each, then bytes to bits.
Benchmark sign_pack_by_operators(const Shape& shape) {
  Benchmark b{point_of("sign_pack", "signs", "framework_ops", shape, {},
                       streamed(shape.elements, 5, 1.125, 2)),
              bytes_of(5.2 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto flags = array_of<Byte>(n);
    auto words = array_of<Word>(words_of(n));
    return Work{[=](Stream s) {
                  map<4>(s, in->data(), flags->data(), n, IsNegative{});
                  launch_threads(s, warp_threads(n), pack_byte_flags, flags->data(), words->data(),
                                 n);
                },
                [=] { return differs("words", *words, pack_signs(in->read())); },
                [=] { return checksum_of(*words); }};
  };
  return b;
}

// What both ways of EF-signSGD start from and are compared in.
struct ErrorFeedback {
  Shared<float> gradient;
  Shared<float> error;
  Shared<float> before;  // the error that the first run starts from
  Shared<Word> words;
  Shared<float> scale;
  Shared<float> sums;

  explicit ErrorFeedback(const Shape& shape)
      : gradient(drawn_on_device(shape)),
        error(drawn_on_device(shape, 1)),
        before(drawn_on_device(shape, 1)),
        words(array_of<Word>(words_of(shape.elements))),
        scale(array_of<float>(1)),
        sums(array_of<float>(partial_sums(shape.elements))) {}

  [[nodiscard]] std::string mismatch() const {
    std::vector<float> kept = before->read();
    const SignMessage expected = encode_with_error_feedback(gradient->read(), kept);
    return first_of(differs("words", *words, expected.words),
                    differs("scale", *scale, std::vector<float>{expected.scale}),
                    differs("error", *error, kept));
  }
};

Benchmark sign_ef(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, 12, 8.125, levels_of_tiles(shape.elements) + 1);
  Benchmark b{point_of("sign_ef", "signs", "fused", shape, {}, traffic),
              bytes_of(12.2 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    const ErrorFeedback f(shape);
    return Work{[=](Stream s) {
                  const float* sum = sum_in_order(
                      s, CorrectedTerm{f.gradient->data(), f.error->data()}, f.sums->data(), n);
                  launch_threads(s, warp_threads(n), pack_with_residual, f.error->data(), sum,
                                 f.words->data(), f.scale->data(), n);
                },
                [f] { return f.mismatch(); },
                [f] { return checksum_of(*f.words, *f.scale, *f.error); }};
  };
  return b;
}

PAYOFF_KERNEL void mean_of_sum(const float* sum, float* mean, std::size_t count) {
  if (global_thread() == 0) {
    *mean = *sum / static_cast<float>(count);
  }
}

// Sum, magnitude, mean, comparison, packing, unpacking, difference: seven operators.
Benchmark sign_ef_by_operators(const Shape& shape) {
  const Traffic traffic =
      streamed(shape.elements, 29.125, 17.125, levels_of_tiles(shape.elements) + 7);
  Benchmark b{point_of("sign_ef", "signs", "framework_ops", shape, {}, traffic),
              bytes_of(25.2 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    const ErrorFeedback f(shape);
    auto corrected = array_of<float>(n);
    auto scratch = array_of<float>(n);
    auto flags = array_of<Byte>(n);
    return Work{
        [=](Stream s) {
          combine<4>(s, f.error->data(), f.gradient->data(), corrected->data(), n, Sum{});
          map<4>(s, corrected->data(), scratch->data(), n, Magnitude{});
          const float* sum = sum_in_order(s, ValueTerm{scratch->data()}, f.sums->data(), n);
          launch(s, 1, warp_lanes, mean_of_sum, sum, f.scale->data(), n);
          map<4>(s, corrected->data(), flags->data(), n, IsNegative{});
          launch_threads(s, warp_threads(n), pack_byte_flags, flags->data(), f.words->data(), n);
          launch_threads(s, divided_up(n, 8), unpack_sign_bits, f.words->data(), f.scale->data(),
                         scratch->data(), n);
          combine<4>(s, corrected->data(), scratch->data(), f.error->data(), n, Difference{});
        },
        [f] { return f.mismatch(); }, [f] { return checksum_of(*f.words, *f.scale, *f.error); }};
  };
  return b;
}

// Any value of the tensor serves as the scale.
struct PackedSigns {
  Shared<float> in;
  Shared<Word> words;
  Shared<float> out;

  explicit PackedSigns(const Shape& shape)
      : in(drawn_on_device(shape)),
        words(array_of<Word>(words_of(shape.elements))),
        out(array_of<float>(shape.elements)) {
    launch_threads(Stream{}, warp_threads(shape.elements), pack_sign_bits, in->data(),
                   words->data(), shape.elements);
    wait_for(Stream{});
  }

  [[nodiscard]] std::string mismatch() const {
    const std::vector<float> values = in->read();
    return differs("values", *out, unpack_signs(pack_signs(values), values.front(), values.size()));
  }
};

Benchmark sign_unpack(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, 0.125, 4, 1);
  Benchmark b{point_of("sign_unpack", "signs", "fused", shape, {}, traffic),
              bytes_of(8.2 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    const PackedSigns p(shape);
    return Work{[=](Stream s) {
                  launch_threads(s, divided_up(n, 8), unpack_sign_bits, p.words->data(),
                                 p.in->data(), p.out->data(), n);
                },
                [p] { return p.mismatch(); }, [p] { return checksum_of(*p.out); }};
  };
  return b;
}

// Bits to bytes, bytes to one and minus one, times the scale.
Benchmark sign_unpack_by_operators(const Shape& shape) {
  Benchmark b{point_of("sign_unpack", "signs", "framework_ops", shape, {},
                       streamed(shape.elements, 5.125, 9, 3)),
              bytes_of(13.2 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    const PackedSigns p(shape);
    auto flags = array_of<Byte>(n);
    auto signs = array_of<float>(n);
    return Work{[=](Stream s) {
                  launch_threads(s, divided_up(n, 8), unpack_byte_flags, p.words->data(),
                                 flags->data(), n);
                  map<4>(s, flags->data(), signs->data(), n, FlagToSign{});
                  map<4>(s, signs->data(), p.out->data(), n, TimesScalar{p.in->data()});
                },
                [p] { return p.mismatch(); }, [p] { return checksum_of(*p.out); }};
  };
  return b;
}

PAYOFF_KERNEL void draw_words(Word* out, RandomKey key, std::size_t count) {
  for (std::size_t i = global_thread(); i < count; i += global_threads()) {
    out[i] = random_words(key, i).word[2];
  }
}

Shared<Word> drawn_votes(const Shape& shape, unsigned workers) {
  auto votes = array_of<Word>(words_of(shape.elements) * workers);
  launch(Stream{}, striding_blocks(votes->count(), block_threads), block_threads, draw_words,
         votes->data(), RandomKey{shape.seed, 5}, votes->count());
  wait_for(Stream{});
  return votes;
}

Benchmark majority_vote(const Shape& shape, unsigned workers) {
  const Traffic traffic = streamed(shape.elements, workers / 8.0, 0.125, 1);
  Benchmark b{point_of("majority", "signs", "fused", shape,
                       {{"workers", static_cast<double>(workers)}}, traffic),
              traffic.read + traffic.written,
              {}};
  b.make = [shape, workers] {
    const std::size_t words = words_of(shape.elements);
    auto votes = drawn_votes(shape, workers);
    auto out = array_of<Word>(words);
    return Work{[=](Stream s) {
                  launch_threads(s, words, majority_words, votes->data(), workers, out->data(),
                                 words);
                },
                [=] { return differs("votes", *out, majority_of(votes->read(), workers)); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

// Every worker's signs unpacked and added to a sum that starts at zero, then the sum's compared and
// packed: two kernels a worker and three.
Benchmark majority_by_operators(const Shape& shape, unsigned workers) {
  const double w = workers;
  const Traffic traffic =
      streamed(shape.elements, w * 8.125 + 5, w * 8 + 5.125, static_cast<int>(2 * workers) + 3);
  Benchmark b{point_of("majority", "signs", "framework_ops", shape, {{"workers", w}}, traffic),
              bytes_of((9.2 + w / 8.0) * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape, workers] {
    // Whole words: the bits past the end are votes as well.
    const std::size_t words = words_of(shape.elements);
    const std::size_t n = words * signs_per_word;
    auto votes = drawn_votes(shape, workers);
    auto one = std::make_shared<DeviceArray<float>>(std::vector<float>{1.0F});
    auto signs = array_of<float>(n);
    auto sum = array_of<float>(n);
    auto flags = array_of<Byte>(n);
    auto out = array_of<Word>(words);
    return Work{[=](Stream s) {
                  fill_in_stream(s, sum->data(), 0, sum->bytes());
                  for (unsigned worker = 0; worker < workers; ++worker) {
                    launch_threads(s, divided_up(n, 8), unpack_sign_bits,
                                   votes->data() + worker * words, one->data(), signs->data(), n);
                    combine<4>(s, sum->data(), signs->data(), sum->data(), n, Sum{});
                  }
                  map<4>(s, sum->data(), flags->data(), n, IsNegative{});
                  launch_threads(s, warp_threads(n), pack_byte_flags, flags->data(), out->data(),
                                 n);
                },
                [=] { return differs("votes", *out, majority_of(votes->read(), workers)); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> sign_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const Shape& shape : plan.shapes) {
    all.push_back(sign_pack(shape));
    all.push_back(sign_pack_by_operators(shape));
    all.push_back(sign_ef(shape));
    all.push_back(sign_ef_by_operators(shape));
    all.push_back(sign_unpack(shape));
    all.push_back(sign_unpack_by_operators(shape));
  }
  for (const unsigned workers : plan.workers) {
    for (const Shape& shape : shapes_of(plan, workers == plan.workers.front())) {
      all.push_back(majority_vote(shape, workers));
      all.push_back(majority_by_operators(shape, workers));
    }
  }
  return all;
}

}  // namespace payoff::kernels
