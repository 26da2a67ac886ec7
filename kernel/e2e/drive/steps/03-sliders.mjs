import { slide } from "../slide.mjs";
import { note, test } from "../step.mjs";

test("move a slider", async ({ lab }) => {
  test.setTimeout(90_000);
  note(await slide(lab, await lab.openFirst(), [0, 1], "3"));
});
