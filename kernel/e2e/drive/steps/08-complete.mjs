import { expect, note, test } from "../step.mjs";

const imports = `import (
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nb"
)

// opened is a laboratory.
func opened() *lab.Lab { return nb.Try(lab.Open()) }`;

// typed is what a reader has written so far.
const typed = {
  name: "%%\nnb.Ta",
  earlier: "%%\nopened().",
  same: "%%\nc := opened()\nc.",
  call: "%%\nnb.Table()",
  running: "%%\ntime.Sleep(time.Minute)",
  meanwhile: "%%\nnb.Ta",
};

// Tab once. Nothing has run, and the language server reads the library first.
test("Tab completes, the first time and before a cell has run", async ({ lab }) => {
  test.setTimeout(140_000);
  const notebook = await lab.open(await lab.write("names.ipynb", imports, ...Object.values(typed)));
  const first = await offers(lab, notebook, 1, "Table");
  await notebook.shoot("8-completed");
  await accept(lab, notebook, 1, "nb.Table");
  const earlier = await offers(lab, notebook, 2, "Case");
  await notebook.page.keyboard.press("Escape");
  const same = await offers(lab, notebook, 3, "Case");
  await notebook.shoot("8-methods");
  await notebook.page.keyboard.press("Escape");
  await toEnd(notebook, 4);
  await notebook.page.keyboard.press("Shift+Tab");
  const tooltip = notebook.page.locator(".jp-Tooltip");
  await lab.until("words on nb.Table", async () => (await tooltip.count()) > 0 && /Table shows/.test((await tooltip.first().textContent()) ?? ""));
  await notebook.shoot("8-looked-up");
  await notebook.start(5);
  const meanwhile = await offers(lab, notebook, 6, "Table");
  expect(/\*/.test(await notebook.prompt(5)), "the cell has ended before the completion came").toBeTruthy();
  await notebook.interrupt();
  note(`the first Tab completes nb.Ta after ${first} s; a value's methods are there after ${earlier} and ${same} s, ` +
    `a name while a cell runs after ${meanwhile} s; Shift+Tab shows a comment`);
});

// offers presses Tab once at the end of a cell and returns after how many seconds
// a name is offered, or is in the cell because it is the only one.
async function offers(lab, notebook, i, name) {
  await toEnd(notebook, i);
  const began = Date.now();
  await notebook.page.keyboard.press("Tab");
  const items = notebook.page.locator(".jp-Completer:not(.lm-mod-hidden) .jp-Completer-match");
  await lab.until(`${name}, offered in cell ${i}`, async () =>
    (await items.allTextContents()).some((t) => t.trim().startsWith(name)) || (await code(notebook, i)).includes(name), 30);
  return (Date.now() - began) / 1000;
}

async function accept(lab, notebook, i, whole) {
  if (!(await code(notebook, i)).includes(whole)) {
    await notebook.page.keyboard.press("Enter");
  }
  await lab.until(`${whole} in the cell`, async () => (await code(notebook, i)).includes(whole));
}

async function code(notebook, i) {
  return (await notebook.cell(i).locator(".cm-content").textContent()) ?? "";
}

// toEnd puts the cursor behind the last character of a cell; behind the bracket
// of a call, which is what Shift+Tab asks about, it stands inside.
async function toEnd(notebook, i) {
  await notebook.cell(i).locator(".cm-line").last().click();
  await notebook.page.keyboard.press("Control+End");
  if ((await code(notebook, i)).endsWith("()")) {
    await notebook.page.keyboard.press("ArrowLeft");
  }
}
