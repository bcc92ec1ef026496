import { laterCases } from "./fired/later.ts";
import { outageCases } from "./fired/outages.ts";
import { type Planted, plant } from "./fired/planted.ts";
import { programCases } from "./fired/programs.ts";
import { providerCases } from "./fired/providers.ts";
import { resourceCases } from "./fired/resources.ts";
import { storeCases } from "./fired/stores.ts";
import { warehouseCases } from "./fired/warehouse.ts";
import { webhookCases } from "./fired/webhooks.ts";

/** One thing after another breaks in one installation; each alert is awaited, and what its runbook says to look at first shows the cause. */
describe("alerts that a real Prometheus fires for a planted cause", function () {
  this.timeout(900_000); // every wait inside has a bound of its own
  let planted: Planted;
  before(async () => {
    planted = await plant();
  });
  after(() => planted?.close());

  const at = () => planted;
  const later = laterCases(at);
  later.begin();
  resourceCases(at);
  programCases(at);
  webhookCases(at);
  providerCases(at);
  warehouseCases(at);
  storeCases(at);
  later.end();
  outageCases(at);
});
