// SPDX-License-Identifier: MIT
/// @file
/// The recurrence has the properties that make it right, and each mutation breaks one of them.
#include "common/attention/tiled_reference.hpp"

#include <bit>
#include <cstdint>
#include <random>

#include "common/attention/oracle.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/test_support.hpp"

using namespace workshop;

namespace {

/// Even numbers in [-spread, spread), the same on every machine.
Matrix<double> random_matrix(int rows, int cols, std::uint64_t seed, double spread = 2) {
  std::mt19937_64 bits(seed);
  Matrix<double> numbers(rows, cols);
  for (double& number : numbers.values) number = spread * (double(bits() >> 11) * 0x1p-52 - 1);
  return numbers;
}

template <typename To>
Matrix<To> convert(const Matrix<double>& numbers) {
  Matrix<To> converted(numbers.rows, numbers.cols);
  std::copy(numbers.values.begin(), numbers.values.end(), converted.values.begin());
  return converted;
}

/// False for what is no number.
bool near(double value, double expected, double tolerance = 1e-14) {
  return std::abs(value - expected) <= tolerance;
}

/// One row through the given scores, in tiles of `block_n`; v has one column.
template <typename State>
RowState<State> through(const std::vector<State>& scores, const std::vector<State>& values,
                        const TiledOptions& options) {
  Matrix<State> v(int(values.size()), 1);
  v.values = values;
  RowState<State> row(1);
  std::vector<State> p(scores.size());
  for (int first = 0; first < v.rows; first += options.block_n) {
    const auto keys = std::size_t(std::min(options.block_n, v.rows - first));
    online_softmax_step<State>(row, std::span(scores).subspan(first, keys),
                               std::span(p).subspan(first, keys), v, first, options);
  }
  return row;
}

}  // namespace

TEST_CASE("five keys of four columns in blocks of two, worked out by hand") {
  // With q = (2, 0, 0, 0), 1/sqrt(4) q k^T is the first column of k: 0, 0 | log 2, 0 | log 4.
  Matrix<double> q(1, 4), k(5, 4);
  q.values = {2, 0, 0, 0};
  const double scores[] = {0, 0, std::log(2), 0, std::log(4)};
  for (int key = 0; key < 5; ++key) k(key, 0) = scores[key];
  Matrix<double> v(5, 4);
  v.values = {1,  0, 1, -9,  //
              3,  0, 1, 0,   //
              10, 0, 1, 0,   //
              2,  0, 1, 9,   //
              7,  9, 1, 0};

  // tile 0   m = 0                           p = (1, 1)     l = 2
  //          a = v0 + v1 = (4, 0, 2, -9)
  // tile 1   m = log 2   alpha = 1/2         p = (1, 1/2)   l = 2/2 + 3/2 = 5/2
  //          a = (4, 0, 2, -9)/2 + v2 + v3/2 = (2 + 10 + 1, 0, 1 + 1 + 1/2, -9/2 + 9/2)
  // tile 2   m = log 4   alpha = 1/2         p = (1)        l = 5/4 + 1 = 9/4
  //          a = (13, 0, 5/2, 0)/2 + v4 = (27/2, 9, 9/4, 0)
  // output   a / l = (6, 4, 1, 0)
  struct Expected {
    double m, alpha, l;
    std::vector<double> p, a;
  };
  const Expected expected[] = {
      {0, 0, 2, {1, 1}, {4, 0, 2, -9}},
      {std::log(2), 0.5, 2.5, {1, 0.5}, {13, 0, 2.5, 0}},
      {std::log(4), 0.5, 2.25, {1}, {13.5, 9, 2.25, 0}},
  };
  std::size_t tiles = 0;
  const auto compare = [&](const TileStep<double>& step) {
    REQUIRE(tiles < std::size(expected));
    const Expected& want = expected[tiles];
    CHECK(step.row == 0);
    CHECK(step.tile == int(tiles++));
    CHECK(near(step.state.m, want.m));
    CHECK(near(step.alpha, want.alpha));
    CHECK(near(step.state.l, want.l));
    REQUIRE(step.p.size() == want.p.size());
    for (std::size_t j = 0; j < want.p.size(); ++j) CHECK(near(step.p[j], want.p[j]));
    for (std::size_t d = 0; d < 4; ++d) {
      CHECK(near(step.state.a[d], want.a[d], 1e-15));
    }
  };
  const Matrix<double> o = tiled_attention(q, k, v, {.block_n = 2}, compare);
  CHECK(tiles == 3);
  Matrix<double> by_hand(1, 4);
  by_hand.values = {6, 4, 1, 0};
  CHECK(largest_difference(o, by_hand) < 1e-14);
}

TEST_CASE("every block size gives the dense result") {
  const int seq_len = GENERATE(1, 5, 33, 64);
  const int head_dim = GENERATE(1, 7, 32);
  const Mask mask = GENERATE(Mask::none, Mask::causal);
  const Matrix<double> q = random_matrix(seq_len, head_dim, 1);
  const Matrix<double> k = random_matrix(seq_len, head_dim, 2);
  const Matrix<double> v = random_matrix(seq_len, head_dim, 3);
  const Matrix<double> dense = attention_oracle(q, k, v, mask);
  for (int block_n : {1, 2, 3, 16, 32, 33, 1000}) {
    CAPTURE(seq_len, head_dim, block_n);
    CHECK(largest_difference(tiled_attention(q, k, v, {.block_n = block_n, .mask = mask}), dense) <
          1e-13);
  }
}

TEST_CASE("one block is the dense formula") {
  const Matrix<double> q = random_matrix(9, 4, 4);
  const Matrix<double> k = random_matrix(9, 4, 5);
  const Matrix<double> v = random_matrix(9, 4, 6);
  const Mask mask = GENERATE(Mask::none, Mask::causal);
  int calls = 0;
  tiled_attention(q, k, v, {.block_n = 9, .mask = mask}, [&](const TileStep<double>& step) {
    const std::vector<double> weights = attention_weights(q, k, step.row, mask);
    REQUIRE(step.p.size() == weights.size());
    for (std::size_t j = 0; j < weights.size(); ++j) {
      CHECK(near(step.p[j] / step.state.l, weights[j]));
    }
    CHECK(step.alpha == 0);
    ++calls;
  });
  CHECK(calls == 9);
}

TEST_CASE("after each block a / l is attention over the keys seen so far") {
  const int block_n = GENERATE(1, 3, 8);
  const Matrix<double> q = random_matrix(6, 5, 7);
  const Matrix<double> k = random_matrix(20, 5, 8, 6);
  const Matrix<double> v = random_matrix(20, 5, 9);
  int calls = 0;
  tiled_attention(q, k, v, {.block_n = block_n}, [&](const TileStep<double>& step) {
    const int seen = std::min(20, (step.tile + 1) * block_n);
    const Matrix<double> so_far =
        attention_oracle(q, first_rows(k, seen), first_rows(v, seen), Mask::none);
    const std::vector<double> output = step.state.output();
    for (int d = 0; d < 5; ++d) {
      CHECK(near(output[d], so_far(step.row, d), 1e-13));
    }
    ++calls;
  });
  CHECK(calls == 6 * ((20 + block_n - 1) / block_n));
}

TEST_CASE("alpha is 0 on the first tile and never above 1") {
  const Mask mask = GENERATE(Mask::none, Mask::causal);
  const Matrix<double> q = random_matrix(40, 8, 10, 8);
  const Matrix<double> k = random_matrix(40, 8, 11, 8);
  int moved = 0;
  tiled_attention(q, k, k, {.block_n = 4, .mask = mask}, [&](const TileStep<double>& step) {
    CHECK((step.tile == 0 ? step.alpha == 0 : step.alpha >= 0));
    CHECK(step.alpha <= 1);
    moved += step.tile > 0 && step.alpha < 1;
  });
  CHECK(moved > 10);  // the maximum did move, so that this tested something
}

TEST_CASE("a wholly future tile leaves m, l and a bitwise as they were") {
  const Matrix<double> q = random_matrix(12, 3, 12);
  const Matrix<double> v = random_matrix(12, 3, 13);
  RowState<double> before(3);
  int future_tiles = 0;
  tiled_attention(q, q, v, {.block_n = 4, .mask = Mask::causal}, [&](const TileStep<double>& step) {
    if (step.tile * 4 > step.row) {
      CHECK(std::bit_cast<std::uint64_t>(step.state.m) == std::bit_cast<std::uint64_t>(before.m));
      CHECK(std::bit_cast<std::uint64_t>(step.state.l) == std::bit_cast<std::uint64_t>(before.l));
      CHECK(step.state.a == before.a);
      CHECK(step.alpha == 1);
      CHECK(std::all_of(step.p.begin(), step.p.end(), [](double p) { return p == 0; }));
      ++future_tiles;
    }
    before = step.state;
  });
  CHECK(future_tiles == 4 * 2 + 4 * 1);
}

TEST_CASE("a row that has seen no key yet stays at its start, without NaN") {
  const RowState<float> row = through<float>({-INFINITY, -INFINITY, 3}, {1, 2, 5}, {.block_n = 1});
  CHECK(row.m == 3);
  CHECK(row.l == 1);
  CHECK(row.a == std::vector<float>{5});
}

TEST_CASE("a shift of all scores changes nothing beyond rounding") {
  // Adding c to every key adds q c / sqrt(D) to every score of a row: here up to 130.
  const Matrix<double> q = random_matrix(10, 4, 14);
  const Matrix<double> k = random_matrix(30, 4, 15);
  const Matrix<double> v = random_matrix(30, 4, 16);
  Matrix<double> shifted = k;
  for (int key = 0; key < shifted.rows; ++key) shifted(key, 1) += 130;
  CHECK(largest_difference(tiled_attention(q, shifted, v, {.block_n = 7}),
                           tiled_attention(q, k, v, {.block_n = 7})) < 1e-12);
}

TEST_CASE("an FP32 state agrees with an FP64 state to FP32 rounding") {
  const Matrix<float> q = convert<float>(random_matrix(20, 16, 17));
  const Matrix<float> k = convert<float>(random_matrix(100, 16, 18));
  const Matrix<float> v = convert<float>(random_matrix(100, 16, 19));
  const auto wide = [](const Matrix<float>& numbers) {
    Matrix<double> result(numbers.rows, numbers.cols);
    std::copy(numbers.values.begin(), numbers.values.end(), result.values.begin());
    return result;
  };
  const double error =
      largest_difference(tiled_attention(q, k, v, {.block_n = 8}),
                         tiled_attention(wide(q), wide(k), wide(v), {.block_n = 8}));
  CHECK(error < 2e-6);
  CHECK(error > 0);  // it did compute in FP32
}

TEST_CASE("16-bit inputs, in an FP32 and in an FP64 state, agree with the oracle") {
  const ElementType type = GENERATE(ElementType::fp16, ElementType::bf16);
  const Mask mask = GENERATE(Mask::none, Mask::causal);
  const Inputs inputs{type, round_matrix(type, random_matrix(40, 16, 29)),
                      round_matrix(type, random_matrix(40, 16, 30)),
                      round_matrix(type, random_matrix(40, 16, 31))};
  const Matrix<double> expected =
      attention_oracle(widen(type, inputs.q), widen(type, inputs.k), widen(type, inputs.v), mask);
  const TiledOptions options{.block_n = 7, .mask = mask};
  CHECK(largest_difference(tiled_attention<double>(inputs, options), expected) < 1e-13);
  const double error = largest_difference(tiled_attention<float>(inputs, options), expected);
  CHECK(error < 2e-6);
  CHECK(error > 1e-13);  // it did compute in FP32
}

TEST_CASE("more queries than keys, and fewer") {
  const int queries = GENERATE(1, 3, 50);
  const Matrix<double> q = random_matrix(queries, 6, 20);
  const Matrix<double> k = random_matrix(17, 6, 21);
  const Matrix<double> v = random_matrix(17, 6, 22);
  CHECK(largest_difference(tiled_attention(q, k, v, {.block_n = 5}),
                           attention_oracle(q, k, v, Mask::none)) < 1e-13);
}

TEST_CASE("a batch of heads is each head by itself") {
  const std::vector<Head<double>> heads = {
      {random_matrix(3, 2, 23), random_matrix(5, 2, 24), random_matrix(5, 2, 25)},
      {random_matrix(4, 8, 26), random_matrix(9, 8, 27), random_matrix(9, 8, 28)}};
  const auto outputs = tiled_attention(heads, {.block_n = 2});
  REQUIRE(outputs.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(outputs[i] == tiled_attention(heads[i].q, heads[i].k, heads[i].v, {.block_n = 2}));
  }
}

TEST_CASE("p is rounded before it meets V, and l sums it unrounded") {
  const ElementType type = GENERATE(ElementType::fp16, ElementType::bf16);
  const auto p = std::exp(double(-1));
  const double rounded = to_float(type, round_to(type, float(p)));
  REQUIRE(rounded != p);
  const auto row = through<double>({0, -1}, {8, 4}, {.block_n = 2, .round_probs = type});
  CHECK(row.l == 1 + p);
  CHECK(row.a[0] == 8 + 4 * rounded);
  CHECK(through<double>({0, -1}, {8, 4}, {.block_n = 2}).a[0] == 8 + 4 * p);
}

TEST_CASE("sizes that do not go together are refused with both numbers") {
  const auto refusal = [](const Matrix<double>& q, const Matrix<double>& k, const Matrix<double>& v,
                          const TiledOptions& options) {
    return refusal_of([&] { tiled_attention(q, k, v, options); });
  };
  const Matrix<double> x(5, 3);
  CHECK(refusal(x, x, x, {.block_n = 0}) == "block_n is 0; allowed: 1 or more");
  CHECK(refusal(x, {0, 3}, {0, 3}, {}) == "k has 0 rows; allowed: 1 or more");
  CHECK(refusal({5, 0}, {5, 0}, {5, 0}, {}) == "q has 0 columns; allowed: 1 or more");
  CHECK(refusal(x, {5, 4}, x, {}) == "k has 4 columns and q 3; allowed: the same");
  CHECK(refusal(x, x, {5, 4}, {}) == "v has 4 columns and q 3; allowed: the same");
  CHECK(refusal(x, x, {4, 3}, {}) == "v has 4 rows and k 5; allowed: the same");
  CHECK(refusal({4, 3}, x, x, {.mask = Mask::causal}) ==
        "the causal mask has q with 4 rows and k with 5; allowed: the same");
}

namespace {

double mutated(Mutation mutation, const std::vector<float>& scores, int block_n = 1) {
  const std::vector<float> values = {1, 10};
  return through<float>(scores, values, {.block_n = block_n, .mutation = mutation}).output()[0];
}

}  // namespace

TEST_CASE("each mutation goes wrong where it should, and only there") {
  const auto log2 = float(std::log(2));
  // Rising scores 0, log 2: p = 1, alpha = 1/2; l = 1/2 + 1, a = 1/2 + 10.
  CHECK(near(mutated(Mutation::none, {0, log2}), 7, 1e-5));
  CHECK(near(mutated(Mutation::forgot_to_rescale_a, {0, log2}), 11 / 1.5, 1e-5));
  CHECK(near(mutated(Mutation::forgot_to_rescale_l, {0, log2}), 10.5 / 2, 1e-5));
  CHECK(near(mutated(Mutation::tile_max, {0, log2}), 7, 1e-5));
  CHECK(near(mutated(Mutation::no_max, {0, log2}), 7, 1e-5));

  // Falling scores hide a forgotten rescaling: alpha is 1.
  CHECK(near(mutated(Mutation::forgot_to_rescale_a, {log2, 0}), 4, 1e-5));
  CHECK(near(mutated(Mutation::forgot_to_rescale_l, {log2, 0}), 4, 1e-5));
  // So does a single tile.
  CHECK(near(mutated(Mutation::forgot_to_rescale_a, {0, log2}, 2), 7, 1e-5));
  CHECK(near(mutated(Mutation::forgot_to_rescale_l, {0, log2}, 2), 7, 1e-5));

  // A deep fall overflows alpha = exp(100 - 0) where the maximum is the tile's own.
  CHECK(near(mutated(Mutation::none, {100, 0}), 1, 1e-5));
  CHECK(near(mutated(Mutation::tile_max, {log2, 0}), 4, 1e-5));
  CHECK(std::isnan(mutated(Mutation::tile_max, {100, 0})));

  // Without a maximum exp(s) leaves FP32's range above 88.7, and below -103.9 nothing is left.
  CHECK(near(mutated(Mutation::none, {100, 100}), 5.5, 1e-5));
  CHECK(near(mutated(Mutation::none, {-280, -280}), 5.5, 1e-5));
  CHECK(std::isnan(mutated(Mutation::no_max, {100, 100})));
  CHECK(std::isnan(mutated(Mutation::no_max, {-280, -280})));
}

TEST_CASE("each mutation has a name of its own") {
  for (const MutationInfo& info : kMutations) {
    const auto found = find_mutation(info.name);
    REQUIRE(found);
    CHECK(found->mutation == info.mutation);
  }
  CHECK(std::size(kMutations) == 4);
  CHECK_FALSE(find_mutation("none"));
  CHECK_FALSE(find_mutation(""));
}
