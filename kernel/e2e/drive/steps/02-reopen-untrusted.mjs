import fs from "node:fs/promises";
import { shown } from "../content.mjs";
import { visibleFigures } from "../figures.mjs";
import { expect, note, test } from "../step.mjs";

test("reopen by somebody else, untrusted", async ({ lab }) => {
  test.setTimeout(60_000);
  const executed = await lab.read(lab.first);
  const { figures, tables } = shown(executed);
  expect(figures && tables, "the executed notebook is not there: the step run-all comes before").toBeTruthy();
  // Jupyter trusts what it has seen itself; one more sentence, and it has not.
  executed.cells.push({ cell_type: "markdown", id: "from-elsewhere", metadata: {}, source: "Sent by a friend." });
  const name = "start/from-a-friend.ipynb";
  await fs.writeFile(lab.file(name), JSON.stringify(executed));
  const notebook = await lab.open(name, await lab.newPerson());
  const { page } = notebook;
  await lab.until('"not trusted"', async () => await page.locator('#jp-main-statusbar [title*="not trusted"]').count());
  await lab.until(`${figures} figures`, async () => (await visibleFigures(page)) === figures);
  const found = await page.locator(".jp-OutputArea-output table").count();
  expect(found === tables, `${found} tables are on the page, ${tables} in the file`).toBeTruthy();
  expect((await page.locator(".jp-OutputArea-output script").count()) === 0, "a script from an untrusted notebook is on the page").toBeTruthy();
  await page.locator(".jp-OutputArea-output table").first().scrollIntoViewIfNeeded();
  await notebook.shoot("2-table");
  await page.locator(".jp-OutputArea-output img").first().scrollIntoViewIfNeeded();
  await notebook.shoot("2-figure");
  note(`not trusted, and ${figures} figures and ${tables} tables are there`);
});
