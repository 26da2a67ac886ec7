import fs from "node:fs/promises";
import { expect, shown } from "../content.mjs";
import { visibleFigures } from "../figures.mjs";

export const reopenUntrusted = {
  name: "reopen-untrusted",
  title: "reopen by somebody else, untrusted",
  seconds: 60,
  async run(lab) {
    const executed = await lab.read(lab.first);
    const { figures, tables } = shown(executed);
    expect(figures && tables, "the executed notebook is not there: the step run-all comes before");
    // Jupyter trusts what it has seen itself; one more sentence, and it has not.
    executed.cells.push({ cell_type: "markdown", id: "from-elsewhere", metadata: {}, source: "Sent by a friend." });
    const name = "start/from-a-friend.ipynb";
    await fs.writeFile(lab.file(name), JSON.stringify(executed));
    const notebook = await lab.open(name, await lab.newPerson());
    const { page } = notebook;
    await lab.until('"not trusted"', async () => await page.locator('#jp-main-statusbar [title*="not trusted"]').count());
    await lab.until(`${figures} figures`, async () => (await visibleFigures(page)) === figures);
    const found = await page.locator(".jp-OutputArea-output table").count();
    expect(found === tables, `${found} tables are on the page, ${tables} in the file`);
    expect((await page.locator(".jp-OutputArea-output script").count()) === 0, "a script from an untrusted notebook is on the page");
    await page.locator(".jp-OutputArea-output table").first().scrollIntoViewIfNeeded();
    await notebook.shoot("2-table");
    await page.locator(".jp-OutputArea-output img").first().scrollIntoViewIfNeeded();
    await notebook.shoot("2-figure");
    return `not trusted, and ${figures} figures and ${tables} tables are there`;
  },
};
