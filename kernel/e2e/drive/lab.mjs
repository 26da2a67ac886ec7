// JupyterLab as a person uses it.
import fs from "node:fs/promises";
import path from "node:path";
import { given } from "./given.mjs";
import { Notebook } from "./notebook.mjs";

// poll is how often the page is looked at.
const poll = 100;

// next numbers the workspaces.
let next = 0;

export class Lab {
  #open = [];
  #workspaces = [];

  constructor(browser) {
    const url = new URL(process.env.LETHE_E2E_URL);
    this.browser = browser;
    this.origin = url.origin;
    this.token = url.searchParams.get("token");
    this.first = decodeURIComponent(url.pathname.replace(/^\/lab\/tree\//, ""));
  }

  // newPerson is a browser profile without a past.
  newPerson() {
    return this.browser.newContext({ viewport: { width: 1280, height: 900 } });
  }

  // open opens a notebook in a tab of its own and waits for its kernel. The tab
  // has a workspace of its own: the next start of JupyterLab shall not restore it.
  async open(name, context) {
    const notebook = await this.#tab(name, `/tree/${encodeURI(name)}`, context);
    await notebook.appears();
    return notebook;
  }

  // launch clicks on an entry of the launcher, which opens a notebook of that name.
  async launch(entry, name) {
    const notebook = await this.#tab(name, "");
    await notebook.page.locator(".jp-LauncherCard", { hasText: entry }).first().click();
    await notebook.appears();
    return notebook;
  }

  async #tab(name, where, context) {
    this.context ??= await this.newPerson();
    const page = await (context ?? this.context).newPage();
    const workspace = `lethe-e2e-${process.pid}-${next++}`;
    this.#workspaces.push(workspace);
    const notebook = new Notebook(this, page, name);
    this.#open.push(notebook);
    await page.goto(`${this.origin}/lab/workspaces/${workspace}${where}?token=${this.token}`);
    return notebook;
  }

  // openEmpty opens a notebook without the outputs that come with it: what is
  // there afterwards was computed here.
  async openEmpty(name, context) {
    const content = await this.read(name);
    for (const cell of content.cells.filter((c) => c.cell_type === "code")) {
      Object.assign(cell, { outputs: [], execution_count: null });
    }
    await fs.writeFile(this.file(name), JSON.stringify(content));
    return this.open(name, context);
  }

  // openFirst opens what `lethe lab` opens.
  openFirst() {
    return this.openEmpty(this.first);
  }

  // beside is another notebook of the folder that `lethe lab` opens the first of.
  beside(name) {
    return path.posix.join(path.posix.dirname(path.posix.dirname(this.first)), name);
  }

  // write puts a notebook with these code cells into the served folder.
  async write(name, ...cells) {
    const content = {
      nbformat: 4,
      nbformat_minor: 5,
      metadata: { kernelspec: { name: "lethe-go", display_name: "Lethe (Go)", language: "go" } },
      cells: cells.map((source, i) => ({ cell_type: "code", id: `cell-${i}`, metadata: {}, execution_count: null, outputs: [], source })),
    };
    await fs.writeFile(this.file(name), JSON.stringify(content));
    return name;
  }

  file(name) {
    return path.join(given.folder, ...name.split("/"));
  }

  async read(name) {
    return JSON.parse(await fs.readFile(this.file(name), "utf8"));
  }

  // whole is a notebook's file, or nothing while Jupyter is writing it: it cuts the
  // file to nothing first.
  async whole(name) {
    return this.read(name).catch((err) => {
      if (!(err instanceof SyntaxError)) {
        throw err;
      }
    });
  }

  // there is a notebook's file with cells in it, or nothing before it is there.
  async there(name) {
    const content = await this.whole(name).catch((err) => {
      if (err.code !== "ENOENT") {
        throw err;
      }
    });
    return content?.cells.length ? content : null;
  }

  // changed is when a notebook's file was written last.
  async changed(name) {
    return (await fs.stat(this.file(name))).mtimeMs;
  }

  // until looks again and again, until look returns something; what names it.
  async until(what, look, seconds = 30) {
    const end = Date.now() + 1000 * seconds;
    for (;;) {
      const got = await look();
      if (got) {
        return got;
      }
      if (Date.now() > end) {
        throw new Error(`no ${what} after ${seconds} s`);
      }
      await new Promise((resolve) => setTimeout(resolve, poll));
    }
  }

  async shoot(target, name) {
    await page(target).evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await target.screenshot({ path: path.join(given.shots, `${name}.png`), animations: "disabled" });
  }

  // tidy closes the tabs and ends their kernels, which may take 0.6 GB each.
  async tidy() {
    for (const notebook of this.#open.splice(0)) {
      await notebook.page.close().catch(() => {});
    }
    for (const session of (await this.api("GET", "/api/sessions")) ?? []) {
      await this.api("DELETE", `/api/sessions/${session.id}`);
    }
    for (const workspace of this.#workspaces.splice(0)) {
      await this.api("DELETE", `/lab/api/workspaces/${workspace}`);
    }
  }

  // api asks the server; null where it does not answer.
  async api(method, where) {
    try {
      const reply = await fetch(this.origin + where, { method, headers: { Authorization: `token ${this.token}` } });
      return reply.ok && reply.status !== 204 ? await reply.json() : null;
    } catch {
      return null;
    }
  }
}

// page is the page of a locator, or the page itself.
function page(target) {
  return typeof target.page === "function" ? target.page() : target;
}
