// SPDX-License-Identifier: MIT
/// @file
/// That each input family is what its name says, everywhere the same, and within the contract.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "common/attention/inputs.hpp"
#include "common/attention/problem.hpp"
#include "common/harness/catch.hpp"

using namespace workshop;

namespace {

constexpr ElementType kTypes[] = {ElementType::fp16, ElementType::bf16};
constexpr int kLengths[] = {1, 33, 97};

/// FNV-1a over the stored bits.
std::uint64_t hash(const Inputs& inputs, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const auto* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
    for (const std::uint16_t bits : tensor->values) hash = (hash ^ bits) * 0x100000001b3;
  }
  return hash;
}

/// q k^T / sqrt(D): [N][N]
Matrix<double> scores_of(const Inputs& inputs) {
  const auto q = widen(inputs.type, inputs.q);
  const auto k = widen(inputs.type, inputs.k);
  Matrix<double> scores(q.rows, k.rows);
  for (int row = 0; row < q.rows; ++row) {
    for (int key = 0; key < k.rows; ++key) {
      double dot = 0;
      for (int d = 0; d < q.cols; ++d) dot += q(row, d) * k(key, d);
      scores(row, key) = dot / std::sqrt(double(q.cols));
    }
  }
  return scores;
}

/// Calls `check(inputs)` for every size and type.
template <typename Check>
void for_all(std::string_view family, Check check) {
  for (const auto type : kTypes) {
    for (const int seq_len : kLengths) {
      for (const int head_dim : kHeadDims) {
        CAPTURE(family, name_of(type), seq_len, head_dim);
        check(make_inputs(family, type, seq_len, head_dim, 1));
      }
    }
  }
}

/// Whether low <= x <= high for all; false for NaN.
bool all_within(const Matrix<double>& numbers, double low, double high) {
  return std::ranges::all_of(numbers.values, [=](double x) { return low <= x && x <= high; });
}

}  // namespace

TEST_CASE("Every family is inside the contract, for both types and all sizes") {
  for (const InputFamily& family : input_families()) {
    for (const auto type : kTypes) {
      for (const int head_dim : kHeadDims) {
        for (const int seq_len : {1, 33, 2048}) {
          CAPTURE(family.name, name_of(type), seq_len, head_dim);
          const Inputs inputs = make_inputs(family.name, type, seq_len, head_dim, 7);
          CHECK_NOTHROW(require_finite(inputs));
          CHECK(inputs.type == type);
          for (const auto* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
            CHECK(tensor->rows == seq_len);
            CHECK(tensor->cols == head_dim);
          }
        }
      }
    }
  }
}

TEST_CASE("The bits are those that every machine gives") {
  const Inputs normal = make_inputs("normal", ElementType::fp16, 2, 16, 1);
  CHECK(normal.q(0, 0) == 0xb47d);
  CHECK(normal.q(1, 15) == 0x3a54);
  CHECK(normal.k(0, 0) == 0x2e94);
  CHECK(normal.v(0, 0) == 0xb96d);
  std::uint64_t all = hash(Inputs{});
  for (const InputFamily& family : input_families()) {
    for_all(family.name, [&](const Inputs& inputs) { all = hash(inputs, all); });
  }
  CHECK(all == 0xfadb660d4882564f);
}

TEST_CASE("A seed gives the same numbers again, another seed other ones") {
  for (const auto type : kTypes) {
    const auto first = hash(make_inputs("normal", type, 33, 16, 1));
    CHECK(hash(make_inputs("normal", type, 33, 16, 1)) == first);
    CHECK(hash(make_inputs("normal", type, 33, 16, 2)) != first);
    CHECK(hash(make_inputs("normal", type, 33, 16, std::uint64_t(1) << 63)) != first);
  }
}

TEST_CASE("A longer normal input begins with the shorter one") {
  const Inputs longer = make_inputs("normal", ElementType::bf16, 97, 16, 1);
  const Inputs shorter = make_inputs("normal", ElementType::bf16, 33, 16, 1);
  CHECK(std::ranges::equal(shorter.k.values, std::span(longer.k.values).first(33 * 16)));
}

TEST_CASE("normal: mean 0, variance 1, the three tensors independent") {
  const Inputs inputs = make_inputs("normal", ElementType::fp16, 2048, 64, 3);
  const auto q = widen(inputs.type, inputs.q);
  const auto k = widen(inputs.type, inputs.k);
  const auto v = widen(inputs.type, inputs.v);
  double sum = 0, squares = 0, fourths = 0, q_k = 0, q_v = 0, neighbours = 0;
  const double count = double(q.values.size());
  for (std::size_t i = 0; i < q.values.size(); ++i) {
    const double x = q.values[i];
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
    q_k += x * k.values[i];
    q_v += x * v.values[i];
    neighbours += x * q.values[i == 0 ? q.values.size() - 1 : i - 1];
  }
  CHECK(std::abs(sum / count) < 0.015);  // 5 standard errors
  CHECK(std::abs(squares / count - 1) < 0.02);
  CHECK(std::abs(fourths / count - 2.9) < 0.1);  // 3 for a true normal, 2.9 for a sum of 12
  for (const double product : {q_k, q_v, neighbours}) CHECK(std::abs(product / count) < 0.015);
}

TEST_CASE("uniform-logits: all scores are 0") {
  for_all("uniform-logits",
          [](const Inputs& inputs) { CHECK(all_within(scores_of(inputs), 0, 0)); });
}

TEST_CASE("large-logits: scores beyond what exp can take in FP32") {
  for (const auto type : kTypes) {
    const auto scores = scores_of(make_inputs("large-logits", type, 97, 32, 1));
    CHECK(std::ranges::max(scores.values) > 89);
    CHECK(std::ranges::min(scores.values) < -89);
  }
}

TEST_CASE("rising: no score is below the one before it, and the largest is in the last tile") {
  for_all("rising", [](const Inputs& inputs) {
    const auto scores = scores_of(inputs);
    bool rises = true;
    for (int row = 0; row < scores.rows; ++row) rises &= std::ranges::is_sorted(scores.row(row));
    CHECK(rises);
    if (scores.cols > 32)
      CHECK(scores(0, scores.cols - 1) > scores(0, (scores.cols - 1) / 32 * 32 - 1));
  });
}

TEST_CASE("falling: no score is above the one before it") {
  for_all("falling", [](const Inputs& inputs) {
    const auto scores = scores_of(inputs);
    bool falls = true;
    for (int row = 0; row < scores.rows; ++row) {
      falls &= std::ranges::is_sorted(scores.row(row), std::ranges::greater());
    }
    CHECK(falls);
    if (scores.cols > 1) CHECK(scores(0, 0) > scores(0, scores.cols - 1) + 10);
  });
}

TEST_CASE("low-scores: every score lies in [-300, -260], and they differ") {
  for_all("low-scores", [](const Inputs& inputs) {
    const auto scores = scores_of(inputs);
    CHECK(all_within(scores, -300, -260));
    if (scores.cols > 1) {
      CHECK(std::ranges::max(scores.values) > std::ranges::min(scores.values) + 1);
    }
  });
}

TEST_CASE("equal-low: all scores are equal, near -21000") {
  for_all("equal-low", [](const Inputs& inputs) {
    const auto scores = scores_of(inputs);
    CHECK(all_within(scores, scores(0, 0), scores(0, 0)));
    CHECK(std::abs(scores(0, 0) + 21000) < 210);
  });
}

TEST_CASE("high-then-zero: the first half near 200, the second exactly 0") {
  for_all("high-then-zero", [](const Inputs& inputs) {
    const auto scores = scores_of(inputs);
    const int high = std::max(1, inputs.seq_len() / 2);
    bool right = true;
    for (int row = 0; row < scores.rows; ++row) {
      for (int key = 0; key < scores.cols; ++key) {
        right &= key < high ? std::abs(scores(row, key) - 200) < 1 : scores(row, key) == 0;
      }
    }
    CHECK(right);
  });
}

TEST_CASE("last-key: one key far above the others, at the end, and its value far above too") {
  for_all("last-key", [](const Inputs& inputs) {
    const auto scores = scores_of(inputs);
    const int last = inputs.seq_len() - 1;
    for (const int key : {0, last / 2, last}) {
      CHECK(std::abs(scores(0, key) - (key == last ? 2 * std::sqrt(inputs.head_dim()) : 0)) <
            1e-12);
      CHECK(to_float(inputs.type, inputs.v(key, 5)) == (key == last ? 69 : 0));
    }
  });
}

TEST_CASE("one-hot-key: one key near 100, above all others by more than exp can take") {
  for_all("one-hot-key", [](const Inputs& inputs) {
    const auto scores = scores_of(inputs);
    const auto top = std::ranges::max_element(scores.row(0)) - scores.row(0).begin();
    for (int row = 0; row < scores.rows; ++row) {
      std::vector<double> sorted(scores.row(row).begin(), scores.row(row).end());
      std::ranges::sort(sorted);
      REQUIRE(sorted.back() == scores(row, int(top)));
      REQUIRE(std::abs(sorted.back() - 100) < 10);
      if (sorted.size() > 1) REQUIRE(sorted[sorted.size() - 2] < sorted.back() - 80);
    }
  });
}

TEST_CASE("large-channel: 200 in channel 0 of every query and key, ordinary numbers elsewhere") {
  for_all("large-channel", [](const Inputs& inputs) {
    for (const auto* tensor : {&inputs.q, &inputs.k}) {
      const auto numbers = widen(inputs.type, *tensor);
      for (int row = 0; row < numbers.rows; ++row) {
        REQUIRE(numbers(row, 0) == 200);
        REQUIRE(std::abs(numbers(row, 1)) <= 6);
      }
    }
  });
}

TEST_CASE("huge-v: finite in FP16, where the sum of any six is not") {
  for_all("huge-v", [](const Inputs& inputs) {
    CHECK(all_within(widen(inputs.type, inputs.v), 65504.0 / 6, 65504));
  });
}

TEST_CASE("subnormal-p: all probabilities but one are subnormal in FP16, none rounds to 0") {
  for_all("subnormal-p", [](const Inputs& inputs) {
    const auto scores = scores_of(inputs);
    bool subnormal = true;
    for (int key = 1; key < scores.cols; ++key) {
      const double p = std::exp(scores(0, key) - scores(0, 0));
      subnormal &= 0x1p-21 < p && p < 0x1p-14;
    }
    CHECK(subnormal);
    for (int col = 0; col < inputs.head_dim(); ++col) {
      REQUIRE(inputs.v(0, col) == 0);
      if (inputs.seq_len() > 1) REQUIRE(to_float(inputs.type, inputs.v(1, col)) >= 0.25);
    }
  });
}

TEST_CASE("identity-v and column-pattern: the value tells the key, or the column") {
  const auto identity = make_inputs("identity-v", ElementType::fp16, 33, 16, 1);
  const auto columns = make_inputs("column-pattern", ElementType::bf16, 33, 64, 1);
  for (int key = 0; key < 33; ++key) {
    for (int col = 0; col < 16; ++col) {
      REQUIRE(to_float(identity.type, identity.v(key, col)) == (key % 16 == col ? 1 : 0));
    }
    for (int col = 0; col < 64; ++col) {
      REQUIRE(to_float(columns.type, columns.v(key, col)) == col + 1);
    }
  }
}

TEST_CASE("cancelling-v: neighbouring values are opposite") {
  for_all("cancelling-v", [](const Inputs& inputs) {
    const auto v = widen(inputs.type, inputs.v);
    for (int key = 1; key < v.rows; ++key) REQUIRE(v(key, 3) == -v(key - 1, 3));
    REQUIRE(v(0, 3) == 64);
  });
}

TEST_CASE("A family that does not exist is refused, and all that do are listed") {
  try {
    make_inputs("nromal", ElementType::fp16, 32, 16, 1);
    FAIL("taken");
  } catch (const Refusal& refusal) {
    CHECK_THAT(refusal.what(), ContainsSubstring("input = nromal: the families are normal, "));
    for (const InputFamily& family : input_families()) {
      CHECK_THAT(refusal.what(), ContainsSubstring(std::string(family.name)));
    }
  }
}

TEST_CASE("Names are short, lower-case, hyphenated and unique, and each says what it catches") {
  std::set<std::string_view> names;
  for (const InputFamily& family : input_families()) {
    CAPTURE(family.name);
    CHECK(names.insert(family.name).second);
    CHECK(family.name.size() <= 16);
    CHECK(std::ranges::all_of(family.name,
                              [](char c) { return ('a' <= c && c <= 'z') || c == '-'; }));
    CHECK(family.catches.size() >= 20);
    CHECK(family.catches.size() <= 80);
  }
  CHECK(input_families()[0].name == "normal");
}
