import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { createProcessMetrics } from "#core/runtime/metrics/registry.ts";
import { type Check, healthServer } from "#core/runtime/process/health-server.ts";
import { leastMs } from "../../../../support/until.ts";

describe("healthServer", () => {
  const { registry, requests } = createProcessMetrics("apiserver");
  const never = new AbortController().signal;
  const checks: Record<string, Check> = {};
  const optional = { cache: () => Promise.reject(new Error("away")) };
  const server = healthServer({ host: "127.0.0.1", port: 0, checks, optional, registry });
  const use = (wanted: Record<string, Check>): void => {
    for (const name of Object.keys(checks)) delete checks[name];
    Object.assign(checks, wanted);
  };
  before(() => server.start(never));
  after(() => server.stop(never));
  const get = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port()}${path}`, init);

  it("is healthy and ready when its checks pass, and names what it can do without", async () => {
    use({ mongodb: async () => undefined });
    expect((await get("/healthz")).status).to.equal(200);
    const ready = await get("/readyz?verbose");
    expect(ready.status).to.equal(200);
    expect(await ready.json()).to.deep.equal({ status: "ok", checks: { mongodb: "ok", cache: "failed" } });
  });

  it("is healthy but not ready, within about a second, naming the checks that fail or hang", async () => {
    use({
      mongodb: () => Promise.reject(new Error("mongodb://u:hush@h is away")),
      nats: () => new Promise(() => undefined),
      kubernetes: () => new Promise(() => undefined),
      leader: () => new Promise(() => undefined),
      redis: async () => undefined,
    });
    const ready = await get("/readyz");
    expect(ready.status).to.equal(503);
    expect(await ready.json()).to.deep.equal({
      status: "unavailable",
      checks: {
        mongodb: "failed",
        nats: "timeout",
        kubernetes: "timeout",
        leader: "timeout",
        redis: "ok",
        cache: "failed",
      },
    });
    expect(await leastMs(() => get("/readyz"), { times: 3 })).to.be.within(950, 2_900); // one after the other they would take 3 s
    expect((await get("/healthz")).status).to.equal(200);
  });

  it("shows the program's and the process's metrics", async () => {
    requests.inc({ route: "/v1/notifications", method: "POST", status: "202" });
    const reply = await get("/metrics");
    expect(reply.headers.get("content-type")).to.contain("text/plain");
    const text = await reply.text();
    expect(text).to.contain(
      'herald_http_requests_total{route="/v1/notifications",method="POST",status="202",program="apiserver"} 1',
    );
    expect(text).to.contain("process_resident_memory_bytes");
  });

  it("knows nothing else", async () => {
    expect((await get("/")).status).to.equal(404);
    expect((await get("/healthz", { method: "POST" })).status).to.equal(405);
    const head = await get("/healthz", { method: "HEAD" });
    expect([head.status, await head.text()]).to.deep.equal([200, ""]);
  });

  it("stops although connections are open", async () => {
    const other = healthServer({ host: "127.0.0.1", port: 0, checks: {}, registry });
    await other.start(never);
    const socket = connect(other.port(), "127.0.0.1");
    await once(socket, "connect");
    await other.stop(never);
    await once(socket, "close");
  });

  it("does not start on a port that is taken", async () => {
    const other = healthServer({ host: "127.0.0.1", port: server.port(), checks: {}, registry });
    expect(await other.start(never).catch((error: { code: string }) => error.code)).to.equal("EADDRINUSE");
  });
});
