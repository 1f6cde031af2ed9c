"use strict";

const PAUSE = 300;  // milliseconds without a key before a question is asked
const TITLES = { convexity: "Is it convex?", solve: "Solution", problem: "Problem" };

const form = document.getElementById("question");
const fields = form.elements;
const answers = document.getElementById("answers");
const message = document.getElementById("message");
const state = document.getElementById("status");
const variables = document.getElementById("variables");
let waiting, running, choices, answered;
let chosen = {};  // the words by the name of a variable, where they aren't those of its name

async function prepare() {
  choices = await (await fetch("choices")).json();
  for (const name of ["syntax", "notation", "mode"])
    fields[name].append(...choices[name].map((word) => new Option(word)));
  fields.example.append(...Object.keys(choices.examples).map((title) => new Option(title)));
  for (const name of choices.functions) {
    const button = element("button", name, { type: "button" });
    button.addEventListener("click", () => write(name));
    document.getElementById("functions").append(button);
  }
  take(fields.example.value);
}

function take(title) {
  const { text, wrt = [], kinds = {}, declarations = "", data = "" } = choices.examples[title];
  chosen = { ...kinds };
  fields.text.value = text;
  fields.wrt.value = wrt.join(", ");
  fields.declarations.value = declarations;
  fields.syntax.value = "auto";
  fields.data.value = data;
  document.getElementById("solving").open = Boolean(data);
  variables.querySelectorAll("label").forEach((label) => label.remove());
  ask(kinds);
}

function write(name) {
  const { selectionStart: start, selectionEnd: end, value } = fields.text;
  fields.text.setRangeText(`${name}(${value.slice(start, end)})`, start, end, "end");
  fields.text.focus();
  if (start === end) fields.text.selectionEnd -= 1;
  form.dispatchEvent(new Event("input"));
}

function declared(kinds) {
  const words = kinds
    ? Object.entries(kinds)
    : [...variables.querySelectorAll("select")].map((menu) => [menu.dataset.name, menu.value]);
  const known = words.filter(([, kind]) => kind).map(([name, kind]) => `${name} ${kind}`);
  return [...known, fields.declarations.value].filter(Boolean).join("; ");
}

function question(kinds) {
  return {
    text: fields.text.value,
    wrt: fields.wrt.value.split(/[\s,;]+/).filter(Boolean),
    declarations: declared(kinds),
    syntax: fields.syntax.value,
    order: Number(fields.order.value),
    notation: fields.notation.value,
    mode: fields.mode.value,
    check: fields.check.checked,
  };
}

async function asked(request, signal) {
  const response = await fetch("answer", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
    signal,
  });
  return response.json();
}

function element(name, text, properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...properties });
}

function template(name) {
  const section = document.getElementById(name).content.cloneNode(true).firstElementChild;
  return [section, (selector) => section.querySelector(selector)];
}

function formula(report) {
  const space = "http://www.w3.org/1998/Math/MathML";
  const source = `<math xmlns="${space}" display="block">${report.mathml}</math>`;
  const parsed = new DOMParser().parseFromString(source, "application/xml");
  const math = document.importNode(parsed.documentElement, true);
  math.setAttribute("alttext", report.derivative);
  return math;
}

function copying(button, text) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text());
    const label = button.textContent;
    button.textContent = state.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1000);
  });
}

// A menu of kinds for each variable; one that is there keeps its choice and the focus.
function showVariables(kinds) {
  const menus = new Map([...variables.querySelectorAll("select")].map((m) => [m.dataset.name, m]));
  for (const [name, menu] of menus)
    if (!(name in kinds)) menu.parentElement.remove();
  for (const [name, kind] of Object.entries(kinds)) {
    if (menus.has(name)) continue;
    const label = element("label", `${name} `);
    const menu = element("select", "");
    menu.dataset.name = name;
    menu.append(new Option(`${kind}, by its name`, ""));
    for (const [words, title] of Object.entries(choices.kinds)) menu.append(new Option(title, words));
    menu.value = chosen[name] ?? "";
    menu.addEventListener("change", (event) => {
      chosen[name] = menu.value;
      changed(event);
    });
    label.append(menu);
    variables.append(label);
  }
  variables.hidden = !Object.keys(kinds).length;
}

function derivative(report, place, request) {
  const [section, find] = template("derivative");
  const power = report.order > 1 ? `^${report.order}` : "";
  find("h2").textContent = `d${power}/d${report.wrt}${power}`;
  find(".formula").append(formula(report));
  copying(find(".copy-latex"), () => report.latex);
  const facts = {
    function: report.expression,
    variables: Object.entries(report.variables)
      .map(([name, shape]) => (shape.length ? `${name} (${shape.join(", ")})` : name)).join(", "),
    derivative: report.derivative,
    shape: `(${report.shape.join(", ")})`,
    LaTeX: report.latex,
    ...(report.check && { check: report.check.message }),
  };
  for (const [name, value] of Object.entries(facts))
    find("dl").append(element("dt", name), element("dd", value));
  let module = report.module;
  find("pre").textContent = report.function;
  copying(find(".copy"), () => module);
  const menu = find(".backend");
  menu.append(...choices.backend.map((name) => new Option(name)));
  menu.addEventListener("change", async () => {
    const answer = await asked({ ...request, backend: menu.value });
    const other = answer.reports?.[place];
    module = other?.module ?? "";
    find("pre").textContent = other?.function ?? answer.error;
  });
  find(".steps summary").textContent = `${report.steps.length} steps`;
  for (const { rule, before, after } of report.steps) {
    const row = element("tr", "");
    row.append(element("td", rule), element("td", before), element("td", after));
    find("tbody").append(row);
  }
  if (report.svg) {
    const source = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(report.svg)}`;
    find(".graph").append(element("img", "", { src: source, alt: "graph of the derivative" }));
  } else {
    const dot = element("pre", report.dot, { tabIndex: 0, ariaLabel: "graph" });
    dot.setAttribute("role", "group");
    find(".graph").append(dot);
  }
  return section;
}

function textual(title, text) {
  const [section, find] = template("text");
  find("h2").textContent = TITLES[title];
  find("pre").textContent = text;
  return section;
}

// An answer to another question is pale, and under an error says which question that was.
function fade(isFailed) {
  answers.classList.toggle("old", answers.children.length > 0);
  if (isFailed && answers.children.length)
    answers.dataset.old = `The answer to the question before: ${answered}`;
}

async function ask(kinds, task = "derive") {
  clearTimeout(waiting);
  running?.abort();
  running = new AbortController();
  answers.setAttribute("aria-busy", "true");
  const request = question(kinds);
  try {
    const more = task === "derive" ? {} : { task, data: fields.data.value };
    const answer = await asked({ ...request, ...more }, running.signal);
    if (answer.kinds) showVariables(answer.kinds);
    message.textContent = answer.error ?? "";
    if (answer.error) {
      fade(true);
    } else {
      answers.replaceChildren(...(answer.reports
        ? answer.reports.map((one, place) => derivative(one, place, request))
        : [textual(answer.title, answer.text)]));
      answered = request.text;
      answers.classList.remove("old");
      delete answers.dataset.old;
      state.textContent = `Answered: ${answers.querySelector("h2").textContent}`;
    }
  } catch (error) {
    if (error.name === "AbortError") return;
    message.textContent = "The server doesn't answer; is it still running?";
    fade(true);
  }
  answers.removeAttribute("aria-busy");
}

function changed(event) {
  fade(false);
  if (event.target.name === "data" || event.target.name === "example") return;
  clearTimeout(waiting);
  waiting = setTimeout(ask, PAUSE);
}

form.addEventListener("input", changed);
fields.example.addEventListener("change", () => take(fields.example.value));
for (const button of form.querySelectorAll("[data-task]"))
  button.addEventListener("click", () => ask(undefined, button.dataset.task));
form.addEventListener("submit", (event) => event.preventDefault());
prepare();
