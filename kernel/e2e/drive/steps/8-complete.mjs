import { note, test } from "../step.mjs";

const imports = `import "github.com/lethe-ml/lethe/lib/nb"`;

// The language server reads the whole library first.
const patience = 90;

test("complete a name and look it up", async ({ lab }) => {
  test.setTimeout(140_000);
  const notebook = await lab.open(await lab.write("names.ipynb", imports, "%%\nnb.Ta"));
  const { page } = notebook;
  await notebook.run(0);
  await toEnd(notebook, 1);
  const began = Date.now();
  const offered = page.locator(".jp-Completer:not(.lm-mod-hidden) .jp-Completer-item");
  await again(lab, "completion of nb.Ta", patience, async () => {
    await page.keyboard.press("Escape");
    await toEnd(notebook, 1);
    await page.keyboard.press("Tab");
  }, async () => (await offered.allTextContents()).some((t) => /^Table/.test(t.trim())) || /nb\.Table/.test(await code(notebook, 1)));
  const took = (Date.now() - began) / 1000;
  await notebook.shoot("8-completed");
  if (await offered.count()) {
    await page.keyboard.press("Enter");
  }
  await lab.until("nb.Table in the cell", async () => /nb\.Table/.test(await code(notebook, 1)));
  const tooltip = page.locator(".jp-Tooltip");
  // The box comes before its words, and without any while the server is busy.
  await again(lab, "words on nb.Table", 40, async () => {
    await page.keyboard.press("Escape");
    await toEnd(notebook, 1);
    await page.keyboard.press("Shift+Tab");
  }, async () => (await tooltip.count()) > 0 && /Table shows/.test((await tooltip.first().textContent()) ?? ""));
  await notebook.shoot("8-looked-up");
  note(`Tab completes nb.Ta after ${took} s; Shift+Tab shows its comment`);
});

async function code(notebook, i) {
  return (await notebook.cell(i).locator(".cm-content").textContent()) ?? "";
}

// toEnd puts the cursor behind the last character of a cell.
async function toEnd(notebook, i) {
  await notebook.cell(i).locator(".cm-line").last().click();
  await notebook.page.keyboard.press("Control+End");
}

// again repeats an act every few seconds until its effect is there: what is
// asked before the language server is ready gets no answer.
async function again(lab, what, seconds, act, there) {
  let next = 0;
  await lab.until(what, async () => {
    if (await there()) {
      return true;
    }
    if (Date.now() > next) {
      await act();
      next = Date.now() + 4000;
    }
    return false;
  }, seconds);
}
