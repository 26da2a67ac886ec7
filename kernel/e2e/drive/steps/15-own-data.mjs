import { codeCells, joined, problems } from "../content.mjs";
import { picture } from "../figures.mjs";
import { expect, note, test } from "../step.mjs";

// The notebook on the reader's own data: from a CSV to a verdict, and its controls.
test("own data from a CSV to a verdict", async ({ lab }) => {
  test.setTimeout(240_000);
  const notebook = await lab.openEmpty(lab.beside("start/03-your-own-data.ipynb"));
  await notebook.runAll(220);
  const saved = await notebook.save();
  const found = problems(saved);
  expect(!found.length, found.join("; ")).toBeTruthy();
  const text = codeCells(saved).flatMap((c) => c.outputs.map((o) => joined(o.text ?? o.data?.["text/plain"] ?? ""))).join("\n");
  expect(text.includes("person_id"), "the columns are not printed").toBeTruthy();
  const claims = text.match(/^claim (holds|FAILS):.*/gm) ?? [];
  const failing = claims.filter((c) => c.startsWith("claim FAILS"));
  expect(claims.length >= 5 && !failing.length, `${claims.length} claims; ${failing.join("; ")}`).toBeTruthy();
  // Another request is another picture.
  const controls = codeCells(saved).findIndex((c) => joined(c.source).includes("nb.Interact("));
  const request = notebook.cell(controls).locator('[aria-label="forget set"]').last();
  await request.scrollIntoViewIfNeeded();
  const before = await picture(notebook, controls);
  await request.selectOption("age>=85");
  await lab.until("another picture", async () => (await picture(notebook, controls)) !== before);
  await notebook.shootCell(controls, "15-controls");
  expect(!notebook.trouble.length, `scripts of the page failed: ${notebook.trouble.join("; ")}`).toBeTruthy();
  note(`${claims.length} claims that hold; another forget set draws another picture`);
});
