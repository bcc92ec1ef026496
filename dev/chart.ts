import { missingChartTools } from "./install/chart-tools.ts";
import { say } from "./install/progress.ts";
import { runSuite } from "./suite/run-suite.ts";
import { filesIn } from "./suite/runs.ts";

// `make chart`: everything about the chart that needs no node, judged by the usual tools and a real API server. The code
// is 3 when a tool is missing.
const missing = missingChartTools();
if (missing.length > 0) {
  say(`${missing.join(", ")} cannot be found: make install-chart-tools, or name their folder in HERALD_TOOLS`);
  process.exit(3);
}
process.exit(await runSuite(() => filesIn("chart")));
