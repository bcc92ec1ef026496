import { parseArgs } from "node:util";
import { reportProgress, say } from "./install/progress.ts";
import { makeRelease } from "./release/make-release.ts";
import { parseRegistry } from "./release/publish.ts";

// `make release`: builds a release into a folder; with --registry it goes there, with --key it is signed.
const usage =
  "usage: node dev/release.ts --to FOLDER [--version VERSION] [--downloads URL] [--registry HOST/PATH [--key COSIGN_KEY]]";

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      to: { type: "string" },
      version: { type: "string" },
      downloads: { type: "string" },
      registry: { type: "string" },
      key: { type: "string" },
    },
  });
  const { to, version, downloads, registry, key } = values;
  if (to === undefined) throw new Error(usage);
  if (key !== undefined && registry === undefined)
    throw new Error(`KEY signs what lies in a registry: name REGISTRY, too\n${usage}`);
  if (downloads !== undefined && !/^https?:\/\/[^\s]+$/.test(downloads))
    throw new Error(`DOWNLOADS is the address of a folder, such as https://downloads.example/herald/0.1.0\n${usage}`);
  const stop = reportProgress();
  try {
    const made = await makeRelease({
      to,
      ...(version === undefined ? {} : { version }),
      registry: registry === undefined ? null : parseRegistry(registry),
      key: key ?? null,
      downloads: downloads ?? null,
    });
    for (const line of made) say(line);
  } finally {
    stop();
  }
};

await main().catch((error: unknown) => {
  say((error as Error).message);
  process.exitCode = 1;
});
