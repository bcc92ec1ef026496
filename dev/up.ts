import { relative } from "node:path";
import { portBase, stackDir } from "./files/paths.ts";
import { type Found, type ServerKind, startStack } from "./servers/stack.ts";
import { describe } from "./servers/versions.ts";

// `make up`: starts what is not there yet and prints where everything is.
const startedAt = Date.now();
const { found } = await startStack({ dir: stackDir, portBase: portBase() }).catch((error: Error) => {
  console.error(`herald: ${error.message}`);
  process.exit(1);
});
for (const [kind, where] of Object.entries(found) as [ServerKind, Found][]) {
  const about = where.origin === "environment" ? "given by the environment" : `${describe(kind)}, ${where.origin}`;
  const address = kind === "kubernetes" ? `KUBECONFIG=${relative(process.cwd(), where.address)}` : where.address;
  console.log(`${kind.padEnd(12)}${address.padEnd(54)}${about}`);
}
console.log(`Up in ${((Date.now() - startedAt) / 1000).toFixed(1)} s. Logs: ${relative(process.cwd(), stackDir)}/logs`);
console.log("Next: make demo starts the programs on these servers, make down stops them");
