# SPDX-License-Identifier: MIT
# Doxygen's input filter for sources: a plain comment behind a member documents it.
/^(struct|class|enum class) /,/^};/ s|^(  [^ ].*[;,]) +// |\1 ///< |
