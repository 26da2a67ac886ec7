// How Playwright runs the steps. LETHE_E2E_GIVEN is a JSON object:
//
//   program  lethe, whose JupyterLab is tested
//   folder   of the notebooks that it serves
//   browser  path of a Chromium
//   shots    folder for the screenshots
import path from "node:path";
import { defineConfig } from "@playwright/test";
import { given } from "./given.mjs";

const args = [
  "--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
if (process.getuid?.() === 0) {
  args.push("--no-sandbox"); // Chromium has none for root
}
const quote = (word) => `'${word.replaceAll("'", `'\\''`)}'`;

export default defineConfig({
  testDir: "steps",
  testMatch: "*.mjs",
  workers: 1,
  globalTimeout: 14 * 60_000,
  reporter: "./reporter.mjs",
  outputDir: path.join(given.shots, "failed"),
  use: {
    launchOptions: { executablePath: given.browser, args },
    actionTimeout: 30_000,
    navigationTimeout: 30_000,
    screenshot: "only-on-failure",
  },
  webServer: {
    command: `exec ${quote(given.program)} lab ${quote(given.folder)} --no-browser`,
    cwd: process.cwd(), // the clone
    wait: { stdout: /(?<LETHE_E2E_URL>http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/\S*[?&]token=\S+)/ },
    timeout: 2 * 60_000,
    gracefulShutdown: { signal: "SIGTERM", timeout: 30_000 },
    stderr: "pipe",
  },
});
