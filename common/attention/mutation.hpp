// SPDX-License-Identifier: MIT
/// @file
/// The mistakes that learners make in the online recurrence, each written once, by name.
#pragma once

#include <optional>
#include <string_view>

namespace workshop {

/// A mistake that the tiled reference can be told to make.
enum class Mutation { none, forgot_to_rescale_a, forgot_to_rescale_l, tile_max, no_max };

/// A mutation, as it is named and explained to a reader.
struct MutationInfo {
  Mutation mutation;
  std::string_view name;  // on command lines and in results
  std::string_view mistake;
  std::string_view shows;  // on which scores the output goes wrong
};

inline constexpr MutationInfo kMutations[] = {
    {Mutation::forgot_to_rescale_a, "forgot-to-rescale-a", "a' = a + p V instead of alpha a + p V",
     "wherever a later tile raises the maximum"},
    {Mutation::forgot_to_rescale_l, "forgot-to-rescale-l",
     "l' = l + sum p instead of alpha l + sum p", "wherever a later tile raises the maximum"},
    {Mutation::tile_max, "tile-max",
     "m' = max s, the maximum of this tile, instead of max(m, max s)",
     "where a later tile's maximum is lower by so much that exp overflows"},
    {Mutation::no_max, "no-max", "m' = 0 instead of max(m, max s): p is exp(s) itself",
     "where the largest score is so large that exp overflows, or so low that it vanishes"},
};

/// The mutation of that name.
constexpr std::optional<MutationInfo> find_mutation(std::string_view name) {
  for (const MutationInfo& info : kMutations) {
    if (info.name == name) return info;
  }
  return std::nullopt;
}

}  // namespace workshop
