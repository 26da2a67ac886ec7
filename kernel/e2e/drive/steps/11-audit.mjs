// lethe audit's report in a browser: it needs nothing from elsewhere, fits a telephone,
// prints, and can be read by those who do not see its pictures.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, note, test } from "../step.mjs";
import { given } from "../given.mjs";
import { integers, matrix } from "../npy.mjs";

// folder writes 40 forget, 80 retained and 80 held-out records of two classes; the
// unlearned model is the original.
function folder(dir) {
  const rows = [...Array(200).keys()];
  const y = rows.map((i) => i % 2);
  mkdirSync(dir, { recursive: true });
  integers(path.join(dir, "labels.npy"), y);
  integers(path.join(dir, "forget.npy"), rows.slice(0, 40));
  integers(path.join(dir, "retain.npy"), rows.slice(40, 120));
  integers(path.join(dir, "heldout.npy"), rows.slice(120));
  let state = 1;
  const noise = () => (state = (state * 48271) % 2147483647) / 2147483647;
  for (const [name, first] of [["unlearned", 0], ["original", 0], ["retrained", 40], ["retrained-2", 40]]) {
    mkdirSync(path.join(dir, name), { recursive: true });
    const knows = (i) => i >= first && i < 120;
    matrix(path.join(dir, name, "outputs.npy"), rows.map((i) => [0, 1].map((c) => noise() + (c === y[i] ? 1 + 2 * knows(i) : 0))));
    matrix(path.join(dir, name, "embedding.npy"), rows.map((i) => [...Array(5).keys()].map((k) => noise() * (knows(i) ? 0.3 : 1) + (k === y[i]))));
  }
  return dir;
}

// weak lists texts whose contrast with their background is below 4.5 to 1.
function weak() {
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const numbers = (css) => css.match(/[\d.]+/g).map(Number);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = numbers(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const e of document.querySelectorAll("h1, h2, p, li, td, th, em, strong, sub, figcaption, summary, pre, svg text")) {
    if (!e.textContent.trim()) continue;
    const style = getComputedStyle(e);
    const [a, b] = [luminance(numbers(e.matches("text") ? style.fill : style.color).slice(0, 3)), luminance(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`${e.tagName} "${e.textContent.slice(0, 40)}": ${ratio.toFixed(2)}`);
  }
  return found;
}

test("an audit's report opens offline, on a wide screen and on a telephone", async ({ browser }) => {
  test.setTimeout(90_000);
  const dir = folder(path.join(process.env.TMPDIR ?? given.shots, "audited"));
  const said = execFileSync(given.program, ["audit", dir], { encoding: "utf8" });
  expect(said).toContain("still remembered");
  const url = pathToFileURL(path.join(dir, "report", "report.html")).href;
  for (const [name, width, height] of [["wide", 1200, 900], ["telephone", 360, 740]]) {
    const context = await browser.newContext({ viewport: { width, height }, offline: true });
    const page = await context.newPage();
    const asked = [], heard = [];
    page.on("request", (r) => asked.push(r.url()));
    page.on("console", (m) => heard.push(m.text()));
    page.on("pageerror", (e) => heard.push(String(e)));
    await page.goto(url);
    await page.screenshot({ path: path.join(given.shots, `11-audit-${name}.png`), fullPage: true });
    expect(asked.filter((u) => u !== url && !u.startsWith("data:")), "requests beside the page").toEqual([]);
    expect(heard, "the console").toEqual([]);
    const room = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(room[0], `${name}: the page is ${room[0]} wide, the screen ${room[1]}`).toBeLessThanOrEqual(room[1]);
    expect(await page.evaluate(weak), `${name}: weak contrasts`).toEqual([]);
    // Readings, ROC and losses, each drawn in pieces that a sheet of paper holds.
    const figures = await page.locator("figure").evaluateAll((all) => all.map((f) => [
      [...f.querySelectorAll("svg")].some((s) => s.checkVisibility() && s.getBoundingClientRect().height > 50),
      f.getAttribute("aria-label")?.length > 20,
      f.querySelector("pre").textContent.length > 100,
    ]));
    expect(figures, `${name}: every picture is seen and has a name and its words`).toEqual(Array(3).fill([true, true, true]));
    const headings = await page.locator("h1, h2, h3, h4").evaluateAll((all) => all.map((h) => Number(h.tagName[1])));
    expect(headings[0] === 1 && headings.slice(1).every((h, i) => h > 1 && h <= headings[i] + 1), `headings ${headings}`).toBeTruthy();
    expect(await page.evaluate(() => [document.documentElement.lang, document.scripts.length])).toEqual(["en", 0]);
    if (name === "wide") {
      expect((await page.pdf()).length, "a print").toBeGreaterThan(10_000);
    }
    await context.close();
  }
  note("nothing is asked of the network, nothing is wider than the screen, and every picture has words");
});
