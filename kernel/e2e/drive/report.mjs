// Runs steps under their limits and prints how each went.
import path from "node:path";

export class Report {
  failed = 0;
  quiet = false;

  constructor({ seconds, shots }) {
    this.end = Date.now() + 1000 * seconds;
    this.shots = shots;
  }

  // run prints "ok 3.2 s WHAT HAPPENED", or why it did not and which screenshot
  // shows it. A step that fails does not keep the others from running.
  async run(step, lab) {
    const began = Date.now();
    const seconds = () => ((Date.now() - began) / 1000).toFixed(1).padStart(5);
    const left = Math.min(1000 * step.seconds, this.end - began);
    try {
      const said = await within(left, lab, step);
      console.log(`ok   ${seconds()} s  ${step.title}: ${said}`);
    } catch (err) {
      if (this.quiet) {
        return;
      }
      this.failed++;
      console.log(`FAIL ${seconds()} s  ${step.title}: ${words(err)}`);
      for (const shot of await lab.shootAll(path.join(this.shots, `FAILED-${step.name}`))) {
        console.log(`     screenshot: ${shot}`);
      }
    }
    await lab.tidy();
  }
}

// within ends a step that takes too long. Its pages are closed afterwards, which
// ends whatever it still waits for.
async function within(milliseconds, lab, step) {
  if (milliseconds <= 0) {
    throw new Error("no time is left: the limit of all steps together is reached");
  }
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${Math.round(milliseconds / 1000)} s, while waiting for ${lab.awaited || "the page"}`)), milliseconds);
  });
  const work = step.run(lab);
  work.catch(() => {}); // after the limit nobody asks any more
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

// words are the first lines of an error without Playwright's call log.
function words(err) {
  return String(err.message ?? err).split("\nCall log")[0].trim();
}
