"use strict";

const PAUSE = 300;  // milliseconds without a key before a question is asked

const form = document.getElementById("question");
const answers = document.getElementById("answers");
const message = document.getElementById("message");
let waiting, running, backends, answered;

async function prepare() {
  const { backend, ...lists } = await (await fetch("choices")).json();
  backends = backend;
  for (const [name, words] of Object.entries(lists))
    form.elements[name].append(...words.map((word) => new Option(word)));
  ask();
}

function question() {
  const fields = form.elements;
  return {
    text: fields.text.value,
    wrt: fields.wrt.value.split(/[\s,;]+/).filter(Boolean),
    declarations: fields.declarations.value,
    syntax: fields.syntax.value,
    order: Number(fields.order.value),
    notation: fields.notation.value,
    mode: fields.mode.value,
    check: fields.check.checked,
  };
}

async function asked(fields, signal) {
  const response = await fetch("answer", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(fields),
    signal,
  });
  return response.json();
}

function element(name, text, properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...properties });
}

function formula(mathml) {
  const space = "http://www.w3.org/1998/Math/MathML";
  const source = `<math xmlns="${space}" display="block">${mathml}</math>`;
  const parsed = new DOMParser().parseFromString(source, "application/xml");
  return document.importNode(parsed.documentElement, true);
}

function copying(button, text) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text());
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1000);
  });
}

function shown(report, place, fields) {
  const section = document.getElementById("answer").content.cloneNode(true).firstElementChild;
  const find = (selector) => section.querySelector(selector);
  const power = report.order > 1 ? `^${report.order}` : "";
  find("h2").textContent = `d${power}/d${report.wrt}${power}`;
  find(".formula").append(formula(report.mathml));
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
  find("pre").textContent = report.code;
  copying(find(".copy"), () => module);
  for (const backend of backends) {
    const tab = element("button", backend, { type: "button", role: "tab" });
    tab.setAttribute("aria-selected", backend === "numpy");
    tab.addEventListener("click", async () => {
      const answer = await asked({ ...fields, backend });
      for (const one of find(".tabs").children) one.setAttribute("aria-selected", one === tab);
      const other = answer.reports?.[place];
      module = other?.module ?? "";
      find("pre").textContent = other?.code ?? answer.error;
    });
    find(".tabs").append(tab);
  }
  find(".steps summary").textContent = `${report.steps.length} steps`;
  for (const { rule, before, after } of report.steps) {
    const row = element("tr", "");
    row.append(element("td", rule), element("td", before), element("td", after));
    find("tbody").append(row);
  }
  if (report.svg) {
    const source = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(report.svg)}`;
    find(".graph").append(element("img", "", { src: source, alt: "expression graph" }));
  } else {
    find(".graph").append(element("pre", report.dot));
  }
  return section;
}

// An answer that stays under an error says which question it belongs to.
function mark(isOld) {
  if (isOld && answers.children.length)
    answers.dataset.old = `The answer to the question before: ${answered}`;
  else
    delete answers.dataset.old;
}

async function ask() {
  running?.abort();
  running = new AbortController();
  answers.setAttribute("aria-busy", "true");
  try {
    const fields = question();
    const answer = await asked(fields, running.signal);
    message.textContent = answer.error ?? "";
    if (answer.reports) {
      answers.replaceChildren(...answer.reports.map((one, place) => shown(one, place, fields)));
      answered = fields.text;
    }
    mark(!answer.reports);
  } catch (error) {
    if (error.name === "AbortError") return;
    message.textContent = "The server doesn't answer; is it still running?";
    mark(true);
  }
  answers.removeAttribute("aria-busy");
}

form.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(ask, PAUSE);
});
form.addEventListener("submit", (event) => event.preventDefault());
prepare();
