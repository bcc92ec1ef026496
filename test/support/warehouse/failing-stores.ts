import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import type { WarehouseDestinationInput } from "#core/schema/warehouse/destination.ts";
import type { RunErrorCode } from "#core/schema/warehouse/export.ts";
import type { WarehouseExportRow } from "#core/storage/warehouse/exports.ts";
import type { Runs } from "./runs.ts";
import type { Manifest } from "./site.ts";
import { type Answer, type Asked, type Rule, refusal, storeProxy } from "./store-proxy.ts";

type Fault = { it: string; rule: Rule; code: RunErrorCode; says: RegExp };

/** A kind of stores: where it is, what an export to it is set up with, and how it says that it fails. */
export type FailingStore = {
  url: () => string;
  /** A destination behind an address. */
  at: (url: string) => WarehouseDestinationInput;
  faults: readonly Fault[];
};

/** Has a run fail in each of these ways, and hand each row over once when the store is well again. */
export const recoverFrom = ({ url, at, faults }: FailingStore, { site, seed, of, before, later }: Runs): void => {
  for (const { it: what, rule, code, says } of faults)
    it(`are tried again where it ${what}, and hand each row over once when it is well`, async () => {
      await seed(5);
      const proxy = await storeProxy(url());
      try {
        proxy.set(rule);
        const row = await site.add(at(proxy.url), of);
        const id = await site.begin(row, before, later);
        await site.run(id, { mostMs: what === "is slow" ? 300 : 30_000 });
        const failed = await site.runNow(id);
        expect(failed).to.deep.include({ status: "pending", attempt: 1, manifest_key: null });
        expect(failed?.error?.code, failed?.error?.message).to.equal(code);
        expect(failed?.error?.message).to.match(says);
        proxy.reset();
        expect(await manifestsOf(site, row), "nothing counts").to.deep.equal([]);
        site.shift(61_000);
        await site.run(id);
        expect(await site.runNow(id)).to.deep.include({ status: "completed", error: null });
        expect(await idsOf(site, row)).to.have.length(5);
      } finally {
        proxy.close();
      }
    });
};

const never = new AbortController().signal;
type Site = Runs["site"];

/** The keys of the manifests of an export. */
const manifestsOf = (site: Site, row: WarehouseExportRow): Promise<string[]> =>
  reading(site, row, (store) => store.list(`${row.destination.prefix}/v1/_manifests/`, never));

const reading = async <T>(
  site: Site,
  { _id, destination, secrets }: WarehouseExportRow,
  read: (store: Awaited<ReturnType<Site["openDestination"]>>) => Promise<T>,
): Promise<T> => {
  const store = await site.openDestination(_id, destination, secrets);
  try {
    return await read(store);
  } finally {
    store.close();
  }
};

/** The ids of the rows that manifests name, each once. */
const idsOf = async (site: Site, row: WarehouseExportRow): Promise<string[]> => {
  const keys = await manifestsOf(site, row);
  const ids = await reading(site, row, async (store) => {
    const read = async (key: string): Promise<Buffer> => (await store.read(key, 1_000_000, never)) ?? Buffer.of();
    const manifests = await Promise.all(keys.map(async (key) => JSON.parse((await read(key)).toString()) as Manifest));
    const files = manifests.flatMap(({ datasets }) => datasets.flatMap((one) => one.files));
    const lines = await Promise.all(
      files.map(async ({ key }) =>
        gunzipSync(await read(key))
          .toString()
          .split("\n"),
      ),
    );
    return lines.flat().flatMap((line) => (line === "" ? [] : (JSON.parse(line) as { id: string }).id));
  });
  expect(new Set(ids).size, "no id twice").to.equal(ids.length);
  return ids;
};

/** What becomes of the writes of parts; `null`: the connection is cut, "never": nothing is answered. */
const onWrite =
  (isWrite: (asked: Asked) => boolean) =>
  (answer: Answer | null | "never"): Rule =>
  (asked, pass) => {
    if (!isWrite(asked)) return pass();
    return answer === "never" ? new Promise(() => undefined) : Promise.resolve(answer);
  };

/** What happens on the way, whatever the protocol. */
const ofTheWay = (to: ReturnType<typeof onWrite>): Fault[] => [
  { it: "cuts the connection", rule: to(null), code: "NETWORK", says: /did not answer/ },
  { it: "is slow", rule: to("never"), code: "NETWORK", says: /did not answer/ },
];

/** Has what the store says of a file's size be another: it took all and has a part of it. */
const withSize =
  (isMeant: (asked: Asked) => boolean, change: (answer: Answer) => Answer): Rule =>
  async (asked, pass) =>
    isMeant(asked) ? change(await pass()) : pass();

const toS3 = onWrite(({ method, key }) => method === "PUT" && key.includes("/deliveries/"));
const inHeader = (answer: Answer): Answer => ({ ...answer, headers: { ...answer.headers, "content-length": "7" } });
const isHead = ({ method }: Asked): boolean => method === "HEAD";

export const s3Faults: readonly Fault[] = [
  { it: "is read-only", rule: toS3(refusal(403, "AccessDenied")), code: "PERMISSION", says: /AccessDenied/ },
  { it: "is full", rule: toS3(refusal(507, "QuotaExceeded")), code: "QUOTA", says: /QuotaExceeded \(507\)/ },
  { it: "is asked too often", rule: toS3(refusal(503, "SlowDown")), code: "QUOTA", says: /SlowDown/ },
  { it: "has another clock", rule: toS3(refusal(403, "RequestTimeTooSkewed")), code: "AUTH", says: /Skewed/ },
  { it: "says yes with an error", rule: toS3(refusal(200, "InternalError")), code: "INTERNAL", says: /Internal/ },
  { it: "loses what it took", rule: toS3({ status: 200 }), code: "INTERNAL", says: /has none of them/ },
  ...ofTheWay(toS3),
  {
    it: "has not all that it took",
    rule: withSize(isHead, inHeader),
    code: "INTERNAL",
    says: /took \d+ bytes and has 7/,
  },
];

const isUpload = ({ method, query }: Asked): boolean =>
  method === "POST" && query.get("name")?.includes("/deliveries/") === true;
const toGcs = onWrite(isUpload);
/** As Cloud Storage says that it does not do something. */
const json = (status: number, reason: string): Answer => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ error: { code: status, message: "no", errors: [{ reason, message: "no" }] } }),
});
const inJson = ({ status, body }: Answer): Answer => ({
  status,
  body: JSON.stringify({ ...(JSON.parse(String(body)) as object), size: "7" }),
});

export const gcsFaults: readonly Fault[] = [
  { it: "is read-only", rule: toGcs(json(403, "forbidden")), code: "PERMISSION", says: /forbidden \(403\)/ },
  { it: "is full", rule: toGcs(json(403, "quotaExceeded")), code: "QUOTA", says: /quotaExceeded/ },
  { it: "is asked too often", rule: toGcs(json(429, "rateLimitExceeded")), code: "QUOTA", says: /rateLimitExceeded/ },
  { it: "takes its token no longer", rule: toGcs(json(401, "authError")), code: "AUTH", says: /authError \(401\)/ },
  { it: "has no bucket any more", rule: toGcs(json(404, "notFound")), code: "NOT_FOUND", says: /notFound \(404\)/ },
  { it: "says yes with an error", rule: toGcs(json(200, "backendError")), code: "INTERNAL", says: /has other ones/ },
  {
    it: "loses what it took",
    rule: toGcs({ status: 200 }),
    code: "INTERNAL",
    says: /answers as Cloud Storage does not/,
  },
  ...ofTheWay(toGcs),
  { it: "has not all that it took", rule: withSize(isUpload, inJson), code: "INTERNAL", says: /has other ones/ },
];

const toAzure = onWrite(({ method, key }) => method === "PUT" && key.includes("/deliveries/"));
/** As Azure says that it does not do something. */
const named = (status: number, code: string): Answer => ({
  status,
  headers: { "content-type": "application/xml", "x-ms-error-code": code },
  body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>no</Message></Error>`,
});

export const azureFaults: readonly Fault[] = [
  {
    it: "is read-only",
    rule: toAzure(named(403, "AuthorizationPermissionMismatch")),
    code: "PERMISSION",
    says: /AuthorizationPermissionMismatch/,
  },
  { it: "is full", rule: toAzure(named(507, "InsufficientStorage")), code: "QUOTA", says: /\(507\)/ },
  { it: "is asked too often", rule: toAzure(named(503, "ServerBusy")), code: "QUOTA", says: /ServerBusy/ },
  {
    it: "has another clock",
    rule: toAzure(named(403, "AuthenticationFailed")),
    code: "AUTH",
    says: /AuthenticationFailed/,
  },
  {
    it: "has no container any more",
    rule: toAzure(named(404, "ContainerNotFound")),
    code: "NOT_FOUND",
    says: /ContainerNotFound/,
  },
  { it: "says yes with an error", rule: toAzure(named(200, "InternalError")), code: "INTERNAL", says: /the store/ },
  { it: "loses what it took", rule: toAzure({ status: 201 }), code: "INTERNAL", says: /has none of them/ },
  ...ofTheWay(toAzure),
  {
    it: "has not all that it took",
    rule: withSize(isHead, inHeader),
    code: "INTERNAL",
    says: /took \d+ bytes and has 7/,
  },
];
