import { runSuite } from "./suite/run-suite.ts";
import { filesIn } from "./suite/runs.ts";

// `make test`: everything but the chart and what needs nodes.
process.exit(await runSuite(() => ["unit", "conformance", "integration", "chaos"].flatMap(filesIn)));
