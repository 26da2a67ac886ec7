// What every step begins with: JupyterLab, tidied up afterwards.
import { test as base } from "@playwright/test";
import { Lab } from "./lab.mjs";

export { expect } from "@playwright/test";

export const test = base.extend({
  lab: async ({ browser }, use) => {
    const lab = new Lab(browser);
    await use(lab);
    await lab.tidy();
  },
});

// note says in words what a step has found, for the line that is printed.
export function note(words) {
  test.info().annotations.push({ type: "found", description: words });
}
