// A notebook in a tab. Cells are counted among the code cells, from 0.

// gaveUp is what gonb's script for widgets says when the kernel has not answered
// it within half a second, as on a busy machine. The sliders have a channel of
// their own; step 09 moves them without that script.
const gaveUp = "comm_open_ack not received in time";

export class Notebook {
  constructor(lab, page, name) {
    this.lab = lab;
    this.page = page;
    this.name = name;
    this.trouble = []; // exceptions of scripts in the page
    this.gaveUp = 0; // how often gonb's script was one of them
    page.on("pageerror", (err) => (err.message === gaveUp ? this.gaveUp++ : this.trouble.push(err.message)));
  }

  // appears waits for all cells and a kernel that can be asked.
  async appears() {
    const cells = (await this.lab.until(this.name, () => this.lab.there(this.name))).cells.length;
    await this.lab.until(`${cells} cells of ${this.name}`, async () => (await this.page.locator(".jp-Notebook .jp-Cell").count()) === cells, 60);
    await this.lab.until("kernel", async () => /Lethe \(Go\) \| (Idle|Busy)/.test(await this.status()), 60);
  }

  // status is what the bar at the bottom says of the kernel.
  async status() {
    return (await this.page.locator("#jp-main-statusbar").textContent()) ?? "";
  }

  cell(i) {
    return this.page.locator(".jp-Notebook .jp-CodeCell").nth(i);
  }

  async prompts() {
    return this.page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt").allTextContents();
  }

  // menu chooses an entry of a menu.
  async menu(menu, entry) {
    await this.page.locator(".lm-MenuBar-itemLabel", { hasText: new RegExp(`^${menu}$`) }).click();
    await this.page.locator(".lm-Menu-itemLabel", { hasText: new RegExp(`^${entry}$`) }).click();
  }

  // runAll chooses Run All and waits until nothing runs any more.
  async runAll(seconds = 120) {
    const before = await this.prompts();
    await this.menu("Run", "Run All Cells");
    await this.lab.until("cell that runs", async () => (await this.prompts()).some((prompt, i) => waits(prompt) || prompt !== before[i]));
    await this.idle(seconds);
  }

  // idle waits until no cell runs or waits.
  async idle(seconds) {
    await this.lab.until(
      "end of the cells",
      async () => !(await this.prompts()).some(waits) && /\| Idle/.test(await this.status()),
      seconds,
    );
  }

  // start runs a cell and returns at once; end waits for it.
  async start(i) {
    const before = await this.prompt(i);
    await this.cell(i).locator(".jp-InputPrompt").click();
    await this.page.keyboard.press("Control+Enter");
    await this.lab.until(`start of cell ${i}`, async () => (await this.prompt(i)) !== before || waits(await this.prompt(i)));
  }

  async end(i, seconds = 60) {
    await this.lab.until(`end of cell ${i}`, async () => /\[\d+\]/.test(await this.prompt(i)), seconds);
  }

  async run(i, seconds) {
    await this.start(i);
    await this.end(i, seconds);
  }

  async prompt(i) {
    return (await this.cell(i).locator(".jp-InputPrompt").textContent()) ?? "";
  }

  // text is what stands below a cell.
  async text(i) {
    return (await this.cell(i).locator(".jp-OutputArea-output").allTextContents()).join("\n");
  }

  // interrupt presses the square button.
  async interrupt() {
    await this.page.locator('[data-jp-item-name="interrupt"]').click();
  }

  // save saves the notebook and returns what is in the file. A cell that runs
  // changes the notebook all the time, so the page never says that it is saved.
  async save() {
    const before = await this.lab.changed(this.name);
    await this.menu("File", "Save Notebook");
    return this.lab.until("saved notebook", async () => (await this.lab.changed(this.name)) > before && this.lab.whole(this.name));
  }

  async shoot(name) {
    await this.lab.shoot(this.page, name);
  }

  // shootCell takes a picture of what stands below a cell, on a screen that is
  // high enough for it.
  async shootCell(i, name) {
    const small = this.page.viewportSize();
    await this.page.setViewportSize({ width: small.width, height: 1600 });
    await this.cell(i).locator(".jp-Cell-outputWrapper").scrollIntoViewIfNeeded();
    await this.lab.shoot(this.cell(i).locator(".jp-Cell-outputWrapper"), name);
    await this.page.setViewportSize(small);
  }
}

// waits says whether a prompt is that of a cell that runs or waits.
export function waits(prompt) {
  return prompt.includes("*");
}
