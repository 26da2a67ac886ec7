// Drives JupyterLab in a browser, one step after the other, and prints a line
// for each. Its argument is a JSON object:
//
//   url      address of JupyterLab, with its token, as `lethe lab` prints it
//   folder   of the notebooks that it serves
//   browser  path of a Chromium
//   args     command line arguments of the browser
//   shots    folder for the screenshots
//   seconds  for all steps together
//   only     names of steps; empty: all
import { Lab } from "./lab.mjs";
import { Report } from "./report.mjs";
import { steps } from "./steps/index.mjs";

const options = JSON.parse(process.argv[2]);
const report = new Report(options);
const lab = new Lab(options);
process.once("SIGTERM", () => {
  report.quiet = true; // the steps that are cut off have not failed
  lab.stop().finally(() => process.exit(143));
});
try {
  await lab.start();
  for (const step of steps) {
    if (!options.only.length || options.only.includes(step.name)) {
      await report.run(step, lab);
    }
  }
} finally {
  await lab.stop();
}
process.exitCode = report.failed ? 1 : 0;
