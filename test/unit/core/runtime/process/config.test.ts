import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { TSchema } from "typebox";
import { ApiserverConfig } from "#config/apiserver.ts";
import { DispatcherConfig } from "#config/dispatcher.ts";
import { OperatorConfig } from "#config/operator.ts";
import { ConfigError, describeConfig, loadConfig } from "#core/runtime/process/config.ts";
import { parser } from "#core/schema/json/parser.ts";

const ring = `k1:${Buffer.alloc(32, 1).toString("base64")}`;
const least = {
  HERALD_MONGODB_URL: "mongodb://127.0.0.1:27017",
  HERALD_NATS_URL: "nats://127.0.0.1:4222",
  HERALD_REDIS_URL: "redis://127.0.0.1:6379",
  HERALD_KEY_RING: ring,
};

describe("loadConfig", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "herald-config-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("fills in defaults and freezes the result", () => {
    const config = loadConfig(ApiserverConfig, least);
    expect(config).to.include({ mongodbDatabase: "herald", natsPrefix: "herald", httpPort: 8080, graceSeconds: 25 });
    expect(config).to.be.frozen;
    expect(config).not.to.have.property("natsCredentials");
  });

  it("has defaults that its own checks admit, which a start does not check", () => {
    for (const schema of [ApiserverConfig, DispatcherConfig, OperatorConfig])
      for (const [name, property] of Object.entries<TSchema & { default?: unknown }>(schema.properties))
        if (property.default !== undefined) expect(() => parser(property)(property.default), name).not.to.throw();
  });

  it("reads numbers, lists and addresses of the dispatcher", () => {
    const config = loadConfig(DispatcherConfig, {
      ...least,
      HERALD_DISPATCHER_UNSAVED_LIMIT: "2000",
      HERALD_ALLOWED_RANGES: "10.0.0.0/8, fd00::/8",
      HERALD_ALLOWED_PORTS: "443, 9443",
      HERALD_APNS_URL: "http://127.0.0.1:27110",
    });
    expect(config.unsavedLimit).to.equal(2000);
    expect(config.allowedRanges).to.deep.equal(["10.0.0.0/8", "fd00::/8"]);
    expect(config.allowedPorts).to.deep.equal([443, 9443]);
    expect(config.apnsUrl).to.equal("http://127.0.0.1:27110");
  });

  it("takes one of two timings, the usual one when none is named, and no other", () => {
    const timingOf = (given: object) => loadConfig(DispatcherConfig, { ...least, ...given }).timing;
    expect([timingOf({}), timingOf({ HERALD_TIMING: "short" })]).to.deep.equal(["usual", "short"]);
    for (const bad of ["0.1", "SHORT", "never"])
      expect(failureOf(() => timingOf({ HERALD_TIMING: bad })).message).to.include("HERALD_TIMING must be one of");
  });

  it("takes a multiple of 16 for the partitions of events, 16 when none is given", () => {
    const partitionsOf = (given: object) => loadConfig(DispatcherConfig, { ...least, ...given }).eventPartitions;
    expect([partitionsOf({}), partitionsOf({ HERALD_EVENT_PARTITIONS: "48" })]).to.deep.equal([16, 48]);
    for (const bad of ["20", "0", "144"])
      expect(failureOf(() => partitionsOf({ HERALD_EVENT_PARTITIONS: bad })).message).to.match(
        /HERALD_EVENT_PARTITIONS must be (a )?multiple of 16|HERALD_EVENT_PARTITIONS must be (>=|<=|at)/,
      );
  });

  it("wants a mail server and a sender, or neither, and shows no password", () => {
    const url = "smtps://herald:s3cret@mail.example.com";
    for (const [given, missing] of [
      [{ HERALD_MAIL_URL: url }, "HERALD_MAIL_FROM is required with mailUrl"],
      [{ HERALD_MAIL_FROM: "a@example.com" }, "HERALD_MAIL_URL is required with mailFrom"],
    ] as const) {
      expect(failureOf(() => loadConfig(DispatcherConfig, { ...least, ...given })).message).to.include(missing);
    }
    const config = loadConfig(DispatcherConfig, { ...least, HERALD_MAIL_URL: url, HERALD_MAIL_FROM: "a@example.com" });
    expect(JSON.stringify(describeConfig(DispatcherConfig, config))).to.not.include("s3cret");
  });

  it("names every bad key at once and shows no secret", () => {
    const failure = failureOf(() =>
      loadConfig(DispatcherConfig, {
        HERALD_MONGODB_URL: "postgres://x",
        HERALD_NATS_URL: "nats://a",
        HERALD_REDIS_URL: "redis://a",
        HERALD_KEY_RING: "",
        HERALD_HEALTH_PORT: "ninety",
        HERALD_GRACE_SECONDS: "0",
        HERALD_FCM_URL: "http://example.com",
        HERALD_ALLOWED_RANGES: "10.0.0.0/8,here",
        HERALD_ALLOWED_PORTS: "443,https,70000",
      }),
    );
    expect(failure.problems).to.have.deep.members([
      { key: "HERALD_MONGODB_URL", message: "must begin with mongodb:// or mongodb+srv://" },
      { key: "HERALD_KEY_RING", message: "is required" },
      { key: "HERALD_HEALTH_PORT", message: "must be an integer" },
      { key: "HERALD_GRACE_SECONDS", message: "must be at least 1" },
      { key: "HERALD_FCM_URL", message: "must be an https address (http only for a loopback host)" },
      { key: "HERALD_ALLOWED_RANGES[1]", message: "must be a network such as 10.0.0.0/8" },
      { key: "HERALD_ALLOWED_PORTS[1]", message: "must be an integer" },
      { key: "HERALD_ALLOWED_PORTS[2]", message: "must be at most 65535" },
    ]);
  });

  it("reads a value from the file that KEY_FILE names", () => {
    const path = join(folder, "ring");
    writeFileSync(path, `${ring}\n`);
    const { HERALD_KEY_RING: _, ...rest } = least;
    expect(loadConfig(OperatorConfig, { ...rest, HERALD_KEY_RING_FILE: path }).keyRing).to.equal(ring);
  });

  it("refuses a value given twice and a file that is not there, each once", () => {
    const twice = failureOf(() => loadConfig(OperatorConfig, { ...least, HERALD_KEY_RING_FILE: "/nowhere" }));
    expect(twice.problems).to.deep.equal([
      { key: "HERALD_KEY_RING", message: "is given twice: remove it or HERALD_KEY_RING_FILE" },
    ]);
    const { HERALD_KEY_RING: _, ...rest } = least;
    const missing = failureOf(() => loadConfig(OperatorConfig, { ...rest, HERALD_KEY_RING_FILE: "/nowhere" }));
    expect(missing.problems).to.deep.equal([
      { key: "HERALD_KEY_RING", message: "cannot be read from /nowhere (ENOENT)" },
    ]);
  });

  it("describes secrets as set or unset and masks passwords in addresses", () => {
    const config = loadConfig(ApiserverConfig, { ...least, HERALD_MONGODB_URL: "mongodb://me:hush@a,b/?x=1" });
    const described = describeConfig(ApiserverConfig, config);
    expect(described).to.include({ keyRing: "set", natsCredentials: "unset", mongodbUrl: "mongodb://me:***@a,b/?x=1" });
    expect(JSON.stringify(described)).not.to.contain("hush");
  });

  for (const schema of [ApiserverConfig, DispatcherConfig, OperatorConfig]) {
    it(`documents and names every one of ${Object.keys(schema.properties).length} settings, each once`, () => {
      const properties = Object.values(schema.properties) as unknown as { env: string; description: string }[];
      expect(new Set(properties.map(({ env }) => env))).to.have.property("size", properties.length);
      for (const { env, description } of properties) {
        expect(env).to.match(/^HERALD_[A-Z0-9_]+$/);
        expect(description, env).to.be.a("string").with.length.greaterThan(5);
      }
    });
  }
});

const failureOf = (load: () => unknown): ConfigError => {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("the configuration was accepted");
};
