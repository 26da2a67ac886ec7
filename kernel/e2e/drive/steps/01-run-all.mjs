import { codeCells, isFigure, joined, problems, shown } from "../content.mjs";
import { visibleFigures } from "../figures.mjs";
import { expect, note, test } from "../step.mjs";

test("open and Run All", async ({ lab }) => {
  test.setTimeout(150_000);
  const notebook = await lab.openFirst();
  await notebook.shoot("1-opened");
  await notebook.runAll(140);
  await notebook.shoot("1-ran");
  const saved = await notebook.save();
  const found = problems(saved);
  expect(!found.length, found.join("; ")).toBeTruthy();
  const never = codeCells(saved).filter((c) => !c.execution_count).length;
  expect(!never, `${never} cells did not run`).toBeTruthy();
  const { cells, figures, tables } = shown(saved);
  await lab.until(`${figures} figures on the page`, async () => (await visibleFigures(notebook.page)) === figures);
  await shootOutputs(notebook, saved);
  const claims = codeCells(saved).flatMap((c) => c.outputs.flatMap((o) => joined(o.text ?? o.data?.["text/plain"] ?? "").match(/^claim (holds|FAILS):.*/gm) ?? []));
  const failing = claims.filter((c) => c.startsWith("claim FAILS"));
  expect(claims.length, "no claim is on the page").toBeTruthy();
  expect(!failing.length, failing.join("; ")).toBeTruthy();
  expect(!notebook.trouble.length, `scripts of the page failed: ${notebook.trouble.join("; ")}`).toBeTruthy();
  note(`${cells} cells, ${figures} figures, ${tables} tables, ${claims.length} claims that hold, no error`);
});

// shootOutputs takes a picture of every figure and table.
async function shootOutputs(notebook, saved) {
  for (const [i, cell] of codeCells(saved).entries()) {
    if (cell.outputs.some((o) => isFigure(o) || o.data?.["text/html"])) {
      await notebook.shootCell(i, `1-cell-${i}`);
    }
  }
}
