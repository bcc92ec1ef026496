import { soakVariable } from "../test/support/suite/soak.ts";
import { runSuite } from "./suite/run-suite.ts";
import { soakFiles } from "./suite/soak-files.ts";

// `make soak`: the tests that kill and take away, with the timing that users have, and for longer.
process.env[soakVariable] = "1";
process.exit(await runSuite(soakFiles));
