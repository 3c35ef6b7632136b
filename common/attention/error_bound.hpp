// SPDX-License-Identifier: MIT
/// @file
/// How far from the oracle a correct kernel may be, and the one comparison that decides.
/// The derivation stands in docs/design/.
#pragma once

#include <cstddef>
#include <string>

#include "common/attention/inputs.hpp"
#include "common/attention/matrix.hpp"
#include "common/attention/problem.hpp"

namespace workshop {

/// What an output is judged by: the expected values and how far from each one may be.
struct Expectation {
  Matrix<double> o;       // [N][D], the oracle's
  Matrix<double> bound;   // [N][D], largest allowed |o - o64|
  double norm_bound = 0;  // largest allowed Frobenius norm of o - o64
};

/// The oracle on the inputs as stored, with the bound of every element:
///
///     u = 2^-11 (FP16) or 2^-8 (BF16)      A = |o64| + sum_j P_ij |v_j|
///     E_i = 2^-21 / sqrt(D) * max_j sum_d |q_id k_jd|        over the keys that row i sees
///     F = 1e-6 (+ N 2^-25 max|v| in FP16, where p may be subnormal)
///     |o - o64| <= (1.25 u + E_i) A + F
///     ||o - o64|| <= (5e-4 or 4e-3, + max E_i) ||A|| + sqrt(N D) F
Expectation expect(const Inputs& inputs, Mask mask);

/// What came of comparing an output with the oracle.
struct Comparison {
  bool passed = false;
  int rows = 0, cols = 0;  // shape of what was compared
  double worst_share = 0;  // largest |o - o64| / bound, infinity for a value that is no number
  int worst_row = 0;       // where that is
  int worst_col = 0;
  double value = 0;
  double expected = 0;
  double bound = 0;
  double norm_share = 0;                        // norm of the error / norm_bound; 0 / 0 is 0
  std::size_t wrong = 0;                        // elements beyond the bound
  int first_wrong_row = 0, last_wrong_row = 0;  // the box that holds them, if wrong > 0
  int first_wrong_col = 0, last_wrong_col = 0;
};

/// An element passes only if it is proved close: a NaN, an infinity or a poisoned element fails.
/// @param o  [N][D]
/// @throws std::invalid_argument if the shapes differ, or there is nothing to compare
Comparison compare(const Matrix<double>& o, const Expectation& expectation);

/// Several short lines (each under 100 columns): the worst element with index, value, expected value
/// and bound; how many are wrong, and where. One line where it passed.
std::string describe(const Comparison& comparison);

}  // namespace workshop
