import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ContainerClient, ContainerSASPermissions, StorageSharedKeyCredential } from "@azure/storage-blob";
import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { type WarehouseDestinationInput, warehouseSecrets } from "#core/schema/warehouse/destination.ts";
import { destinationOf } from "#core/storage/warehouse/destinations.ts";
import { warehouseSecretPlace } from "#core/storage/warehouse/exports.ts";
import { type Destination, DestinationError } from "../../../dispatcher/warehouse/destinations/destination.ts";
import { destinationOpener } from "../../../dispatcher/warehouse/destinations/open.ts";
import { testDestination } from "../../../dispatcher/warehouse/tests.ts";
import { testKeyRing } from "../../support/rows/fixtures.ts";
import { s3Destination } from "../../support/rows/warehouse.ts";
import { testServers } from "../../support/servers/servers.ts";
import { azureFaults, gcsFaults, recoverFrom } from "../../support/warehouse/failing-stores.ts";
import { useRuns } from "../../support/warehouse/runs.ts";
import { type Store, startAzure, startGcs } from "./servers.ts";

const never = new AbortController().signal;
const id = "wex_1";
const account = "herald";
const ring = keyRing(testKeyRing);

/** Opens a destination as a dispatcher does, with its secrets sealed. */
const open = (given: WarehouseDestinationInput, allow = ["127.0.0.0/8"]): Promise<Destination> => {
  const secrets = Object.fromEntries(
    warehouseSecrets.flatMap((name) => {
      const text = given[name];
      return text === undefined ? [] : [[name, ring.seal(text, warehouseSecretPlace(id, name))]];
    }),
  );
  const guarded = { guard: addressGuard({ allow }), resolve: async () => ["127.0.0.1"] };
  return destinationOpener({ ...guarded, unseal: ring.open, clock: systemClock })(id, destinationOf(given), secrets);
};

describe("stores that warehouse exports are written to", () => {
  let dir: string;
  let gcs: Store & { credentials: string };
  let azure: Store & { key: string };
  const opened: Destination[] = [];
  const given: Record<string, () => Promise<WarehouseDestinationInput>> = {
    "a bucket of S3": async () => ({ ...s3Destination((await testServers()).s3Url), path_style: true }),
    "a bucket of Google Cloud Storage": async () => ({
      type: "gcs",
      bucket: "acme-lake",
      prefix: "herald",
      endpoint: gcs.url,
      credentials_json: gcs.credentials,
    }),
    "a container of Azure, by the account's key": async () => ({ ...azureAt(azure.url), account_key: azure.key }),
    "a container of Azure, by a shared access signature": async () => ({
      ...azureAt(azure.url),
      sas_token: await signature(azure),
    }),
  };
  const at = async (name: string, over: Partial<WarehouseDestinationInput> = {}): Promise<Destination> => {
    const destination = await open({ ...(await given[name]?.()), ...over } as WarehouseDestinationInput); // sound: each is whole
    opened.push(destination);
    return destination;
  };

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "stores-"));
    gcs = await startGcs(dir, "acme-lake");
    azure = await startAzure(dir, account);
    await containerOf(azure).create();
  });
  afterEach(() => opened.splice(0).forEach((one) => one.close()));
  after(async () => {
    await gcs?.close();
    await azure?.close();
    await rm(dir, { recursive: true, force: true });
  });

  for (const name of Object.keys(given))
    describe(name, () => {
      const file = (key: string, body: string) => ({ key, body: Buffer.from(body), contentType: "text/plain" });

      it("passes each step of a test", async () => {
        const steps = await testDestination(await at(name), "herald", never);
        expect(steps.filter(({ ok }) => !ok)).to.deep.equal([]);
        expect(steps).to.have.length(6);
      });

      it("has what was written, writes new keys only where they are free, and lists and removes them", async () => {
        const store = await at(name);
        const key = `herald/${name.length}/dt=2026-11-27/a b+ü-00000.jsonl.gz`;
        expect(await store.write(file(key, "first"), "new", never)).to.equal(true);
        expect(await store.write(file(key, "second"), "new", never)).to.equal(false);
        expect((await store.read(key, 100, never))?.toString()).to.equal("first");
        expect(await store.write(file(key, "third"), "over", never)).to.equal(true);
        expect((await store.read(key, 100, never))?.toString()).to.equal("third");
        expect(await store.read(key, 4, never), "more than its bound").to.equal(null);
        expect(await store.list(`herald/${name.length}/`, never)).to.deep.equal([key]);
        await store.remove(key, never);
        await store.remove(key, never);
        expect(await store.read(key, 100, never)).to.equal(null);
        expect(await store.list(`herald/${name.length}/`, never)).to.deep.equal([]);
      });

      it("takes a part of 20 MB", async () => {
        const store = await at(name);
        const body = Buffer.alloc(20_000_000, name);
        const part = { key: "herald/large", body, contentType: "application/gzip" };
        expect(await store.write(part, "over", never)).to.equal(true);
        expect((await store.read(part.key, body.byteLength, never))?.equals(body)).to.equal(true);
        await store.remove(part.key, never);
      });

      it("ends what is under way when it is told to", async () => {
        const stopped = AbortSignal.abort(new Error("stopped"));
        const failed = await (await at(name))
          .write(file("herald/x", "x"), "over", stopped)
          .catch((error: unknown) => error);
        expect(String(failed)).to.include("stopped");
      });
    });

  const otherKey = () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    return privateKey.export({ type: "pkcs8", format: "pem" });
  };
  const withMember = (name: string, value: unknown) =>
    JSON.stringify({ ...(JSON.parse(gcs.credentials) as object), [name]: value });

  const [, inGcs = "", inAzure = "", bySignature = ""] = Object.keys(given);
  const faults: { it: string; open: () => Promise<Destination>; code: string; says: RegExp }[] = [
    {
      it: "a bucket that is not there",
      open: () => at(inGcs, { bucket: "another-lake" }),
      code: "NOT_FOUND",
      says: /404/,
    },
    {
      it: "a service account that Google does not know",
      open: async () => at(inGcs, { credentials_json: withMember("private_key", otherKey()) }),
      code: "AUTH",
      says: /refused an access token with status 400/,
    },
    {
      it: "a token's address that is not Google's",
      open: async () => at(inGcs, { credentials_json: withMember("token_uri", "https://tokens.example/token") }),
      code: "AUTH",
      says: /token_uri is not an address of googleapis.com/,
    },
    {
      it: "a store of Google's that is not reached",
      open: async () =>
        at(inGcs, {
          endpoint: "http://127.0.0.1:9",
          credentials_json: withMember("token_uri", "http://127.0.0.1:9/token"),
        }),
      code: "NETWORK",
      says: /ECONNREFUSED/,
    },
    {
      it: "a container that is not there",
      open: () => at(inAzure, { container: "another" }),
      code: "NOT_FOUND",
      says: /ContainerNotFound \(404\)/,
    },
    {
      it: "another account's key",
      open: () => at(inAzure, { account_key: Buffer.alloc(64).toString("base64") }),
      code: "PERMISSION",
      says: /\(403\)/,
    },
    {
      it: "a signature that is none",
      open: async () => at(bySignature, { sas_token: (await signature(azure)).replace(/sig=[^&]{4}/, "sig=AAAA") }),
      code: "PERMISSION",
      says: /\(403\)/,
    },
    {
      it: "a store of Azure's that is not reached",
      open: () => at(inAzure, { endpoint: "http://127.0.0.1:9" }),
      code: "NETWORK",
      says: /ECONNREFUSED/,
    },
  ];
  for (const { it: fault, open: make, code, says } of faults)
    it(`say what is wrong with ${fault}, and no secret`, async () => {
      const error = await make()
        .then((store) => store.authenticate(never))
        .catch((failed: unknown) => failed);
      if (!(error instanceof DestinationError)) throw new Error(`no fault of a destination: ${String(error)}`);
      expect(error.code, error.message).to.equal(code);
      expect(error.message).to.match(says).and.not.include(azure.key);
    });

  describe("of Google, to which an export's runs are written", () => {
    const here = useRuns("failing_gcs");
    recoverFrom({ url: () => gcs.url, at: (url) => gcsAt(url, gcs.credentials), faults: gcsFaults }, here);
  });

  describe("of Azure, to which an export's runs are written", () => {
    const here = useRuns("failing_azure");
    const at = (url: string) => ({ ...azureAt(url), prefix: `runs/${randomUUID()}`, account_key: azure.key });
    recoverFrom({ url: () => azure.url, at, faults: azureFaults }, here);
  });

  it("are not connected to where addresses are not allowed", async () => {
    for (const name of [inGcs, inAzure]) {
      const store = await open((await given[name]?.()) as WarehouseDestinationInput, []); // sound: each is whole
      const error = await store.authenticate(never).catch((failed: unknown) => failed);
      store.close();
      expect((error as DestinationError).code).to.equal("PERMISSION");
    }
  });
});

/** The tokens come from the store's own address. */
const gcsAt = (endpoint: string, credentials: string): WarehouseDestinationInput => ({
  type: "gcs",
  bucket: "acme-lake",
  prefix: `runs/${randomUUID()}`,
  endpoint,
  credentials_json: JSON.stringify({ ...(JSON.parse(credentials) as object), token_uri: `${endpoint}/token` }),
});

const azureAt = (url: string) =>
  ({ type: "azure_blob", account, container: "lake", prefix: "herald", endpoint: url }) as const;

const containerOf = ({ url, key }: Store & { key: string }): ContainerClient =>
  new ContainerClient(`${url}/${account}/lake`, new StorageSharedKeyCredential(account, key));

/** What the owner of a container gives away: to read, write, remove and list its blobs, for an hour. */
const signature = async (store: Store & { key: string }): Promise<string> => {
  const url = await containerOf(store).generateSasUrl({
    permissions: ContainerSASPermissions.parse("rcwdl"),
    expiresOn: new Date(Date.now() + 3_600_000),
  });
  return new URL(url).search.slice(1);
};
