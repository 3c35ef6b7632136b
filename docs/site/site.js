// SPDX-License-Identifier: MIT
// Starts the parts of the theme, and sets the formulas.
DoxygenAwesomeDarkModeToggle.init();
DoxygenAwesomeFragmentCopyButton.init();
DoxygenAwesomeParagraphLink.init();
DoxygenAwesomeInteractiveToc.init();

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
