import { filesIn } from "./runs.ts";

/** Tests beside those of chaos that wait for what seems dead, or that repeat or judge more sharply in `make soak`. */
const others = [
  "integration/apiserver/devices/crowd",
  "integration/dispatcher/warehouse/runs",
  "integration/operator/engine/fence",
  "integration/operator/engine/leader",
  "integration/operator/engine/leader-lease",
  "integration/operator/faults/api",
  "integration/operator/records/deletion",
  "integration/service/signals-at-start",
  "integration/service/throttle",
  "unit/core/domain/experiments/bandit",
  "unit/core/domain/experiments/verdict",
  "unit/core/domain/filters/pre-filter",
  "unit/core/domain/webhooks/body",
  "unit/dispatcher/net/http2/pool",
].map((name) => `test/${name}.test.ts`);

/** What `make soak` runs. */
export const soakFiles = (): string[] => [...filesIn("chaos"), ...others];
