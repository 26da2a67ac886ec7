// Prints "ok 3.2 s TITLE: WHAT HAPPENED" for each step, or why it failed and
// which screenshot shows it.
export default class Reporter {
  onTestEnd(step, result) {
    const seconds = (result.duration / 1000).toFixed(1).padStart(5);
    if (result.status === "passed") {
      console.log(`ok   ${seconds} s  ${step.title}: ${result.annotations.map((a) => a.description).join("; ")}`);
      return;
    }
    if (result.status === "skipped" || result.status === "interrupted") {
      return; // the steps that are cut off have not failed
    }
    console.log(`FAIL ${seconds} s  ${step.title}: ${result.errors.map(words).join("; ")}`);
    for (const shot of result.attachments.filter((a) => a.path)) {
      console.log(`     screenshot: ${shot.path}`);
    }
  }

  onError(err) {
    console.log(`FAIL ${words(err)}`);
  }

  onStdErr(text) {
    process.stderr.write(text);
  }
}

// words are an error without its colours and Playwright's call log.
function words(err) {
  return String(err.message ?? err.value).replace(/\x1b\[[0-9;]*m/g, "").split(/\n\s*Call log/)[0].trim();
}
