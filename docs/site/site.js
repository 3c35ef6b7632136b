// SPDX-License-Identifier: MIT
// Sets the formulas, and starts the parts of the theme.

// page_filter.py writes TeX in full-width characters, from U+FF01 on for those from ! on.
const narrow = (text) =>
  text
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/\u3000/g, " ");

document.addEventListener("DOMContentLoaded", () => {
  for (const formula of document.querySelectorAll(".math")) {
    const displayMode = formula.tagName === "DIV";
    katex.render(narrow(formula.textContent), formula, { displayMode, throwOnError: false });
  }
});

DoxygenAwesomeDarkModeToggle.init();
DoxygenAwesomeFragmentCopyButton.init();
DoxygenAwesomeParagraphLink.init();
DoxygenAwesomeInteractiveToc.init();
