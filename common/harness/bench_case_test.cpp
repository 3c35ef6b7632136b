// SPDX-License-Identifier: MIT
#include "common/harness/bench_case.hpp"

#include <cmath>
#include <string>

#include "common/harness/catch.hpp"
#include "common/harness/planted_attention.hpp"

namespace workshop {
namespace {

constexpr BenchPoint kPoint{.n = 40, .d = 16, .block_n = 32};

/// What a benchmark of one row says, after it took a time.
std::string verdict_on(Plant with) {
  plant = std::move(with);
  try {
    BenchCase bench_case(kPoint, planted_attention);
    return bench_case.time_ms(3) > 0 ? "timed" : "no time";
  } catch (const simt::KernelFault& fault) {
    return fault.what();
  }
}

}  // namespace

TEST_CASE("a right result is timed, and its error known") {
  CHECK(verdict_on({}) == "timed");
  CHECK(plant.launches == 1 + 3);  // judged; timed
  const double share = BenchCase(kPoint, planted_attention).error_share();
  CHECK(share > 0);
  CHECK(share < 1);
}

TEST_CASE("a wrong result is not timed") {
  CHECK_THAT(verdict_on({.spoil_values = [](Matrix<double>& o,
                                            const Expectation&) { o(39, 15) = std::nan(""); }}),
             ContainsSubstring("o[39][15]"));
  CHECK(plant.launches == 1);
}

TEST_CASE("a result that changes while it is timed is not reported") {
  CHECK_THAT(verdict_on({.spoil_values =
                             [](Matrix<double>& o, const Expectation& expectation) {
                               if (plant.launches == 4)
                                 o(39, 15) += 0.4 * expectation.bound(39, 15);
                             }}),
             ContainsSubstring("different bits"));
}

}  // namespace workshop
