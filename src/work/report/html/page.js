"use strict";
(() => {
  const form = document.getElementById("filters");
  const all = (selector, from) => [...(from || document).querySelectorAll(selector)];
  const numbers = (element, name) => (element.dataset[name] || "").split(" ").filter(Boolean).map(Number);

  // Tables are sorted by the text of a column; a second click turns the order around.
  for (const table of all("table.sort")) {
    for (const head of all("thead th", table)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "\u2195";
      button.setAttribute("aria-label", "Sort by " + head.textContent);
      button.addEventListener("click", () => sort(table, head));
      head.append(" ", button);
    }
  }

  function sort(table, head) {
    const column = [...head.parentNode.cells].indexOf(head);
    const direction = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
    const key = (row) => (row.cells[column] ? row.cells[column].textContent.trim() : "");
    const sign = direction === "ascending" ? 1 : -1;
    const order = new Intl.Collator("en", { numeric: true }).compare;
    const rows = [...table.tBodies[0].rows];
    // Rows without the provider come last in either order.
    rows.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      return x === "" || y === "" ? (x === "") - (y === "") : sign * order(x, y);
    });
    table.tBodies[0].append(...rows);
  }

  if (!form) return;
  form.hidden = false;
  const fields = ["provider", "host", "constraint", "rule"];
  const names = fields.map((name) => [...form.elements[name].options].slice(1).map((option) => option.value));
  const matrix = document.querySelector("table.matrix");
  const hosts = all("article[data-h]").map((article) => article.dataset.h);

  function apply() {
    const wanted = fields.map((name) => form.elements[name].value);
    const [provider, host, constraint, rule] = wanted;
    const numberOf = (field) => (wanted[field] === "" ? -1 : names[field].indexOf(wanted[field]));
    const [constraintNumber, ruleNumber] = [numberOf(2), numberOf(3)];
    const isShown = names[0].map(
      (name, at) =>
        (provider === "" || name === provider || name.endsWith("/" + provider)) &&
        (host === "" || hosts[at] === host) &&
        (constraint === "" || constraint.startsWith(name + " "))
    );
    const isNarrow = provider !== "" || host !== "" || constraint !== "";
    let count = 0;
    for (const row of matrix.rows) {
      let isEmpty = true;
      for (let at = 1; at < row.cells.length; at += 1) {
        row.cells[at].hidden = !isShown[at - 1];
        isEmpty = isEmpty && (row.cells[at].hidden || row.cells[at].textContent.trim() === "");
      }
      if (row.parentNode === matrix.tBodies[0]) {
        row.hidden =
          (isNarrow && isEmpty) ||
          (constraint !== "" && !numbers(row, "c").includes(constraintNumber)) ||
          (rule !== "" && !numbers(row, "r").includes(ruleNumber));
        count += row.hidden ? 0 : 1;
      }
    }
    for (const part of all("article[data-p], figure[data-p]")) part.hidden = !isShown[Number(part.dataset.p)];
    for (const finding of all(".finding")) {
      const of = numbers(finding, "p");
      finding.hidden =
        (rule !== "" && Number(finding.dataset.r) !== ruleNumber) || (isNarrow && !of.some((at) => isShown[at]));
    }
    form.querySelector("output").textContent = count + " of " + matrix.tBodies[0].rows.length + " rows";
    return wanted;
  }

  // The address of the page holds the filters, so that a view can be shared.
  function store() {
    const wanted = apply();
    const parts = fields.flatMap((name, at) => (wanted[at] === "" ? [] : [name + "=" + encodeURIComponent(wanted[at])]));
    history.replaceState(null, "", parts.length ? "#" + parts.join("&").replaceAll("%2F", "/") : location.pathname + location.search);
  }

  function restore() {
    const hash = location.hash.slice(1);
    if (hash !== "" && !hash.includes("=")) return;
    const given = new Map(hash.split("&").map((part) => part.split("=")));
    for (const [at, name] of fields.entries()) {
      let value = "";
      try {
        value = decodeURIComponent(given.get(name) || "");
      } catch {
        // An address that somebody damaged filters nothing.
      }
      // A provider may be named with its host or without.
      const isNamed = (known) => at === 0 && value !== "" && (known.endsWith("/" + value) || value.endsWith("/" + known));
      form.elements[name].value = names[at].includes(value) ? value : names[at].find(isNamed) || "";
    }
    apply();
  }

  form.addEventListener("change", store);
  form.addEventListener("reset", () => setTimeout(store));
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", restore);
  restore();
})();
