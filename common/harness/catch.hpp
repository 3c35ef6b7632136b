// SPDX-License-Identifier: MIT
/// @file
/// Catch2, version 3 or 2.13, under the names the tests use.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Matchers::ContainsSubstring;
#else
#include <string>

#include <catch2/catch.hpp>

inline auto ContainsSubstring(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif
