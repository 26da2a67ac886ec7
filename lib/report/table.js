// What a reader's click does in a table of Lethe: on a column's head it sorts the rows, on a clipped
// text it shows all of it. Rows stay between the headings and separators that they stand between.
(() => {
  if (window.letheTables) return;
  window.letheTables = true;
  const style = document.createElement("style");
  style.textContent = `.lethe-table thead th { cursor: pointer; }
.lethe-table thead th:hover { text-decoration: underline; }
.lethe-table th:first-child, .lethe-table td:first-child:not([colspan]) { position: sticky; left: 0; max-width: 34vw;
  background: linear-gradient(var(--lethe-row, transparent), var(--lethe-row, transparent)), var(--jp-layout-color0, var(--vscode-editor-background, Canvas)); }
.lethe-table tr.control { --lethe-row: rgba(128, 128, 128, 0.2); }
.lethe-table td[colspan] > * { position: sticky; left: 0.5em; }
.lethe-table tbody tr:hover { outline: 1px solid var(--jp-brand-color1, #5a9bd5); outline-offset: -1px; }
.lethe-table td[title] { cursor: help; }`;
  document.head.append(style);

  // valueOf is a cell's number ("−0.5 [...]", "3/4", "<0.001"), or its text.
  function valueOf(cell) {
    const text = cell.textContent.trim().replace(/^[\u25d0\u25cb\u2713\u2717\u00ab\u00bb]\s*/, "");
    const found = text.replace(/\u2212/g, "-").match(/^<?(-?[\d.]+(?:e[-+]?\d+)?)(?:\/(\d+))?/i);
    return found ? Number(found[1]) / Number(found[2] ?? 1) : text;
  }

  // compare puts numbers before texts and texts before gaps such as "(none)", whatever the sign.
  function compare(a, b, sign) {
    const rank = (v) => (typeof v === "number" ? 0 : v.startsWith("(") ? 2 : 1);
    if (rank(a) !== rank(b)) return rank(a) - rank(b);
    return sign * (rank(a) === 0 ? a - b : a.localeCompare(b));
  }

  // blocks are the runs of rows between headings and separators.
  function blocks(body) {
    const out = [[]];
    for (const row of body.rows) {
      if (row.cells[0].hasAttribute("colspan")) out.push([]);
      else out.at(-1).push(row);
    }
    return out;
  }

  function sort(head) {
    const table = head.closest("table");
    const body = table.tBodies[0];
    table.letheOrder ??= new Map([...body.rows].map((row, i) => [row, i]));
    const was = head.getAttribute("aria-sort");
    const now = { ascending: "descending", descending: "none" }[was] ?? "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    for (const arrow of table.tHead.querySelectorAll(".lethe-arrow")) arrow.remove();
    head.setAttribute("aria-sort", now);
    if (now !== "none") {
      const arrow = document.createElement("span");
      arrow.className = "lethe-arrow";
      arrow.textContent = now === "ascending" ? "\u00a0\u25b2" : "\u00a0\u25bc";
      head.append(arrow);
    }
    const sign = now === "descending" ? -1 : 1;
    const order = table.letheOrder;
    for (const rows of blocks(body)) {
      const after = rows.at(-1)?.nextSibling;
      const key = new Map(rows.map((row) => [row, valueOf(row.cells[head.cellIndex])]));
      rows.sort((a, b) => (now !== "none" && compare(key.get(a), key.get(b), sign)) || order.get(a) - order.get(b));
      for (const row of rows) body.insertBefore(row, after);
    }
  }

  // act sorts or unfolds, and says whether the target was one of ours.
  function act(target) {
    const head = target.closest?.(".lethe-table thead th");
    if (head) sort(head);
    const cell = target.closest?.(".lethe-table td[title]");
    if (cell) cell.style.whiteSpace = cell.style.whiteSpace === "normal" ? "nowrap" : "normal";
    return Boolean(head ?? cell);
  }

  document.addEventListener("click", (event) => {
    if (!String(getSelection())) act(event.target); // a reader who selects text does not sort
  });
  // A head takes the keyboard when the pointer or a screen reader first meets its table.
  function reachable() {
    for (const head of document.querySelectorAll(".lethe-table thead th:not([tabindex])")) {
      head.tabIndex = 0;
      head.title = "click to sort";
    }
  }
  document.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.matches?.(".lethe-table thead th") && act(event.target)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }, true);
  for (const when of ["pointerover", "focusin"]) document.addEventListener(when, reachable);
})();
