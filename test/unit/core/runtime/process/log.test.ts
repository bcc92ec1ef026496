import { expect } from "chai";
import { Unavailable } from "#core/errors.ts";
import { createLog, type Log } from "#core/runtime/process/log.ts";

describe("createLog", () => {
  let lines: string[];
  let log: Log;
  beforeEach(() => {
    lines = [];
    log = createLog({ program: "apiserver", level: "info", destination: { write: (line) => void lines.push(line) } });
  });
  const line = (): Record<string, unknown> => JSON.parse(lines[0] ?? "") as Record<string, unknown>;

  it("writes one JSON line with ISO time, level name, program and event", () => {
    log.info({ delivery: "dlv_1", durationMs: 3 }, "delivery.attempted");
    expect(line()).to.include({ level: "info", program: "apiserver", event: "delivery.attempted", durationMs: 3 });
    expect(line()["time"]).to.match(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/);
  });

  it("leaves out what is below its level", () => {
    log.debug("x");
    expect(lines).to.deep.equal([]);
  });

  it("redacts members named as secrets at any depth, in bindings too", () => {
    log.child({ token: "hush1" }).info(
      {
        headers: { Authorization: "hush2", accept: "json" },
        app: { channels: [{ private_key: "hush3", nested: { deep: { clientSecret: "hush4" } } }] },
        password: "hush5",
        url: "mongodb://me:hush6@db",
        outcomes: { token_invalid: 3 },
      },
      "x",
    );
    expect(lines[0]).not.to.contain("hush");
    expect(line()).to.deep.include({
      headers: { Authorization: "[redacted]", accept: "json" },
      outcomes: { token_invalid: 3 },
      url: "mongodb://me:***@db",
    });
  });

  it("writes an error with its code and causes, and no member that a driver hung on it", () => {
    const cause = Object.assign(new Error("connect nats://u:hush@a"), { command: { args: ["hush"] } });
    log.error({ err: new Unavailable("JetStream", { cause }) }, "x");
    const err = line()["err"] as Record<string, unknown>;
    expect(err).to.include({ code: "HS_UNAVAILABLE", message: "JetStream is not available" });
    expect(err["cause"]).to.include({ message: "connect nats://u:***@a" });
    expect(lines[0]).not.to.contain("hush");
  });
});
