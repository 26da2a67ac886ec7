// What a saved notebook holds.

const figureKinds = ["image/png", "application/vnd.vegalite.v5+json"];

export function codeCells(notebook) {
  return notebook.cells.filter((c) => c.cell_type === "code");
}

// cellWith is the number of the code cell whose source holds a text.
export function cellWith(notebook, text) {
  const i = codeCells(notebook).findIndex((c) => joined(c.source).includes(text));
  if (i < 0) {
    throw new Error(`no code cell holds ${text}`);
  }
  return i;
}

// problems are the errors that cells show, and what they wrote to standard error.
export function problems(notebook) {
  return codeCells(notebook).flatMap((c, i) =>
    c.outputs.filter((o) => o.output_type === "error" || o.name === "stderr").map((o) => `cell ${i}: ${o.evalue ?? joined(o.text)}`),
  );
}

export function isFigure(output) {
  return figureKinds.some((kind) => output.data?.[kind]);
}

// shown counts the outputs that are figures, and those with a table in them.
export function shown(notebook) {
  const outputs = codeCells(notebook).flatMap((c) => c.outputs);
  return {
    cells: codeCells(notebook).length,
    figures: outputs.filter(isFigure).length,
    tables: outputs.filter((o) => joined(o.data?.["text/html"] ?? "").includes("<table")).length,
  };
}

export function joined(text) {
  return Array.isArray(text) ? text.join("") : text;
}
