import { expect } from "chai";
import { queries, totalsIn } from "#core/runtime/metrics/figures.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";

describe("the figures of the status", () => {
  it("are counted in an apiserver's registry", async () => {
    const { registry, requests, requestSeconds } = createMetrics("apiserver");
    for (const [status, count] of [
      ["200", 7],
      ["429", 2],
      ["500", 3],
      ["503", 4],
    ] as const) {
      requests.inc({ route: "/v1/users", method: "GET", status }, count);
    }
    requests.inc({ route: "/sdk/v1/inbox", method: "GET", status: "200" }, 3);
    requests.inc({ route: "/sdk/v1/inbox", method: "GET", status: "503" }, 1);
    for (const seconds of [1, 1.1]) requestSeconds.observe({ route: "/sdk/v1/inbox", method: "GET" }, seconds);
    for (const seconds of [0.01, 0.9, 1, 1.1, 20])
      requestSeconds.observe({ route: "/v1/users", method: "GET" }, seconds);
    expect(await totalsIn(registry)).to.deep.equal({
      requests: 20,
      failed_requests: 8,
      slow_requests: 3,
      device_requests: 4,
      failed_device_requests: 1,
      slow_device_requests: 1,
      deliveries: 0,
      put_off_deliveries: 0,
      due_documents: 0,
      late_documents: 0,
    });
  });

  it("are counted in a dispatcher's registry", async () => {
    const { registry, queue, deliveries } = createMetrics("dispatcher");
    for (const [outcome, count] of [
      ["sent", 5],
      ["retry_at", 2],
      ["uncertain", 1],
      ["token_invalid", 9],
    ] as const) {
      deliveries.inc({ channel: "ios_push", provider: "apns", outcome }, count);
    }
    for (const seconds of [0.1, 10, 11]) queue.timerLagSeconds.observe({ source: "messages" }, seconds);
    expect(await totalsIn(registry)).to.deep.include({
      requests: 0,
      deliveries: 17,
      put_off_deliveries: 3,
      due_documents: 3,
      late_documents: 1,
    });
  });

  it("are asked of Prometheus for one installation alone", () => {
    const asked = queries('namespace="herald"');
    expect(asked.failed_requests).to.equal(
      '(sum(increase(herald_http_requests_total{status=~"5..",namespace="herald"}[5m])) or vector(0))',
    );
    expect(asked.failed_device_requests).to.contain('{status=~"5..",route=~"/sdk/.*",namespace="herald"}');
    expect(asked.late_documents).to.contain('le=~"10(\\\\.0)?",namespace="herald"');
    expect(asked.dispatchers).to.equal('count(herald_unsaved_recipients_limit{namespace="herald"}) or vector(0)');
    for (const query of Object.values(asked)) expect(query).to.contain('namespace="herald"');
    expect(queries("").requests).to.contain("herald_http_requests_total{}");
  });
});
