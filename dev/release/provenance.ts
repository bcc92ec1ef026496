import type { Image } from "./image.ts";

/**
 * Where an image comes from: the predicate of SLSA's provenance, version 1 (https://slsa.dev/spec/v1.1/provenance). `cosign
 * attest` makes a signed statement of it.
 */
export const provenanceOf = (
  { debian, node }: Image,
  { version, revision, created }: { version: string; revision: string; created: string },
) => ({
  buildDefinition: {
    buildType: "https://herald.dev/release/v1",
    externalParameters: { version },
    internalParameters: {},
    resolvedDependencies: [
      { uri: `pkg:generic/herald@${version}`, digest: { gitCommit: revision } },
      ...debian.map(({ name, version: of, architecture, sha256 }) => ({
        uri: `pkg:deb/debian/${name}@${of}?arch=${architecture}`,
        digest: { sha256 },
      })),
      ...node.map(({ name, version: of, integrity }) => ({
        uri: `pkg:npm/${name}@${of}`,
        digest: { sha512: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex") },
      })),
    ],
  },
  runDetails: {
    builder: { id: "https://herald.dev/release/make" },
    metadata: { invocationId: revision, startedOn: created },
  },
});
