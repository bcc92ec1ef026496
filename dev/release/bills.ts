import { execFileSync } from "node:child_process";
import { rootDir } from "../files/paths.ts";
import type { Image } from "./image.ts";

/** What an image holds, as the two formats of bills of materials write it: SPDX 2.3 and CycloneDX 1.5. */
export type Bills = { spdx: SpdxDocument; cyclonedx: CycloneDxDocument };

/**
 * npm's own bills of the packages that the programs are bundled from or load, with Debian's packages and Node.js beside
 * them. Times and identifiers come from the release, so that the same release gives the same bills.
 */
export const billsOf = (image: Image, { created }: { created: string }): Bills => {
  const others = otherParts(image);
  const spdx = ofNpm("spdx") as SpdxDocument;
  const root = spdx.documentDescribes[0] ?? "SPDXRef-DOCUMENT";
  const cyclonedx = ofNpm("cyclonedx") as CycloneDxDocument;
  const [hex = ""] = image.digest.split(":").slice(1);
  return {
    spdx: {
      ...spdx,
      documentNamespace: `https://herald.dev/spdx/${hex}`,
      creationInfo: { ...spdx.creationInfo, created },
      packages: [...spdx.packages, ...others.map(spdxPackage)],
      relationships: [
        ...spdx.relationships,
        ...others.map((part) => ({
          spdxElementId: root,
          relatedSpdxElement: spdxPackage(part).SPDXID,
          relationshipType: "CONTAINS",
        })),
      ],
    },
    cyclonedx: {
      ...cyclonedx,
      serialNumber: `urn:uuid:${[8, 4, 4, 4, 12].map(partsOf(hex)).join("-")}`,
      metadata: { ...cyclonedx.metadata, timestamp: created },
      components: [...cyclonedx.components, ...others.map(cyclonedxComponent)],
    },
  };
};

/** Consecutive pieces of a text, of the lengths that are asked for. */
const partsOf = (text: string): ((length: number) => string) => {
  let from = 0;
  return (length) => {
    from += length;
    return text.slice(from - length, from);
  };
};

type SpdxPackage = { name: string; SPDXID: string; versionInfo: string; [member: string]: unknown };
type SpdxDocument = {
  documentNamespace: string;
  documentDescribes: string[];
  creationInfo: object;
  packages: SpdxPackage[];
  relationships: object[];
};
type CycloneDxDocument = {
  serialNumber: string;
  metadata: object;
  components: { name: string; version: string; [member: string]: unknown }[];
};

const ofNpm = (format: "spdx" | "cyclonedx"): unknown => {
  const asked = ["sbom", `--sbom-format=${format}`, "--omit=dev", "--package-lock-only", "--sbom-type=application"];
  return JSON.parse(
    execFileSync("npm", asked, { cwd: rootDir, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }),
  ) as unknown;
};

type Part = { name: string; version: string; purl: string; algorithm: "SHA256" | "SHA512"; hash: string };

/** What npm does not know of: each package once for each architecture that it is for. */
const otherParts = ({ debian, node }: Image): Part[] => {
  const parts: Part[] = [
    ...debian.map(({ name, version, architecture, sha256 }) => ({
      name,
      version,
      purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
      algorithm: "SHA256" as const,
      hash: sha256,
    })),
    ...node.map(({ name, version, integrity }) => ({
      name,
      version,
      purl: `pkg:npm/${name}@${version}`,
      algorithm: "SHA512" as const,
      hash: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex"),
    })),
  ];
  return [...new Map(parts.map((part) => [part.purl, part])).values()];
};

const spdxPackage = ({ name, version, purl, algorithm, hash }: Part): SpdxPackage => ({
  name,
  SPDXID: `SPDXRef-Package-${purl.replace(/[^A-Za-z0-9.]+/g, "-")}`,
  versionInfo: version,
  downloadLocation: "NOASSERTION",
  filesAnalyzed: false,
  checksums: [{ algorithm, checksumValue: hash }],
  externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }],
});

const cyclonedxComponent = ({ name, version, purl, algorithm, hash }: Part) => ({
  "bom-ref": purl,
  type: "library",
  name,
  version,
  purl,
  hashes: [{ alg: algorithm.replace("SHA", "SHA-"), content: hash }],
});
