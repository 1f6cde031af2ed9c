// Renders every formula of a JSON list of {name, latex} on standard input, prints each one that
// KaTeX refuses, and exits with 1 if there was one. NODE_MODULES is the node_modules directory
// that holds katex, by default the one next to this file.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const modules = process.env.NODE_MODULES ?? join(import.meta.dirname, "node_modules");
const katex = createRequire(join(modules, "any.js"))("katex");

// What an untrusted command is shown in: KaTeX doesn't throw for it.
const errorColor = "#abcdef";
// A name may hold any character. What the fonts lack is still shown, in another font.
const harmless = new Set(["unknownSymbol", "unicodeTextInMathMode"]);
const options = {
  displayMode: true,
  throwOnError: true,
  trust: false,
  errorColor,
  strict: (code) => (harmless.has(code) ? "ignore" : "error"),
};

let warnings = [];
console.warn = (...parts) => warnings.push(parts.join(" "));

function problem(latex) {
  warnings = [];
  try {
    const html = katex.renderToString(latex, options);
    if (html.includes(errorColor)) return "an untrusted or unknown command";
    if (/<(a|img|script)\b/i.test(html)) return "active content";
  } catch (error) {
    return error.message;
  }
  return warnings.find((text) => !text.startsWith("No character metrics for"));
}

const formulas = JSON.parse(readFileSync(0, "utf-8"));
let failures = 0;
for (const { name, latex } of formulas) {
  const found = problem(latex);
  if (found !== undefined) {
    failures += 1;
    console.log(`${name}: ${found}\n    ${latex.slice(0, 500)}`);
  }
}
console.log(`${formulas.length} formulas, ${failures} failures`);
process.exitCode = failures ? 1 : 0;
