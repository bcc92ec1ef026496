import { writeFileSync } from "node:fs";
import Mocha from "mocha";

/** What a run of tests came to. */
export type Tally = { passed: number; failed: number };

/** Names the file into which the tally is written. */
export const tallyVariable = "HERALD_TEST_TALLY";

const exitGraceMs = 10_000;

/** Mocha's `spec`, which also leaves the tally in a file, and fails a run that leaves something open behind it. */
class TallyReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once("end", () => {
      const { passes = 0, failures = 0 } = runner.stats ?? {};
      writeTally({ passed: passes, failed: failures });
      setTimeout(() => failOpenEnded({ passed: passes, failed: failures + 1 }), exitGraceMs).unref(); // fires only if something is open
    });
  }
}

const writeTally = (tally: Tally): void => {
  const file = process.env[tallyVariable];
  if (file) writeFileSync(file, JSON.stringify(tally));
};

const failOpenEnded = (tally: Tally): void => {
  console.error(`The tests ended but left open: ${process.getActiveResourcesInfo().join(", ")}`);
  writeTally(tally);
  process.exit(1);
};

// oxlint-disable-next-line import/no-default-export -- mocha takes a reporter from a file's default export only
export default TallyReporter;
