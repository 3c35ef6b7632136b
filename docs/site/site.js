// SPDX-License-Identifier: MIT
// Starts the parts of the theme, and sets the formulas that page_filter.py left as TeX.
DoxygenAwesomeDarkModeToggle.init();
DoxygenAwesomeFragmentCopyButton.init();
DoxygenAwesomeParagraphLink.init();
DoxygenAwesomeInteractiveToc.init();

document.addEventListener("DOMContentLoaded", () => {
  for (const formula of document.querySelectorAll(".math")) {
    const displayMode = formula.tagName === "DIV";
    katex.render(formula.textContent, formula, { displayMode, throwOnError: false });
  }
});
