import { soakVariable } from "../test/support/suite/soak.ts";
import { runSuite } from "./suite/run-suite.ts";
import { filesIn } from "./suite/runs.ts";

/** Tests beside those of chaos that wait for what seems dead, or that repeat what chance decides. */
const others = [
  "dispatcher/warehouse/runs",
  "dispatcher/webhooks/lost-answer",
  "operator/engine/fence",
  "operator/engine/leader",
  "operator/engine/leader-lease",
  "operator/faults/api",
  "operator/records/deletion",
  "service/signals-at-start",
].map((name) => `test/integration/${name}.test.ts`);

// `make soak`: the tests that kill and take away, with the timing that users have, and for longer.
process.env[soakVariable] = "1";
process.exit(await runSuite(() => [...filesIn("chaos"), ...others]));
