import { join } from "node:path";
import { command } from "../install/progress.ts";
import { tool } from "./tool.ts";

/** What of a release is signed: addresses with digests, and the folder with its files. */
export type Signed = { image: string; chart: string; folder: string; version: string };

/**
 * Signs a pushed release with a key of cosign's: the image, of each processor too, and the chart, statements about the image (where it comes from,
 * what it holds), and the list of checksums. Nothing is sent to a public log. The key's password is COSIGN_PASSWORD.
 */
export const sign = async (key: string, { image, chart, folder, version }: Signed): Promise<void> => {
  for (const address of [image, chart]) await cosign("sign", ["--key", key, ...offline, "--recursive", address]);
  const statements = {
    slsaprovenance1: `herald-${version}.provenance.json`,
    spdxjson: `herald-${version}.spdx.json`,
    cyclonedx: `herald-${version}.cyclonedx.json`,
  };
  for (const [type, name] of Object.entries(statements))
    await cosign("attest", ["--key", key, ...offline, "--type", type, "--predicate", join(folder, name), image]);
  const sums = join(folder, "SHA256SUMS");
  await cosign("sign-blob", ["--key", key, ...offline, "--bundle", `${sums}.sigstore.json`, sums]);
};

/** Neither the public transparency log nor the configuration of the public services. */
const offline = ["--tlog-upload=false", "--use-signing-config=false", "--yes"];

const cosign = (verb: string, words: readonly string[]): Promise<void> =>
  command([tool("cosign"), verb, ...words], { log: "release" });
