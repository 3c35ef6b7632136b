# SPDX-License-Identifier: MIT
# Doxygen's input filter for sources: a plain comment behind a member documents it.
/^(struct|class|enum class) /,/^};/ s|^(  [^ ].*[;,]) +// |\1 ///< |
# Doxygen 1.9.4 takes the dot of `./workshop` for the end of the first sentence.
/^ *\/\/\// s|`\./|`|g
