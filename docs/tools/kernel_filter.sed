# SPDX-License-Identifier: MIT
# Doxygen's input filter for kernels, after source_filter.sed: what follows the first sentence in the
# head of the file is laid out by hand, so it is shown as it stands.
4 s|^///$|/// ~~~text|
/^\/\/\/ ~~~text$/,/^$/ s|^$|/// ~~~|
