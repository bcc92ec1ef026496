import { expect } from "chai";
import { pino } from "pino";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { accessLog } from "../../../../../apiserver/http/middleware/access-log.ts";
import type { Context } from "../../../../../apiserver/http/state.ts";

describe("the access log", () => {
  const appOf = async (resource: object, params: Record<string, string> = {}): Promise<unknown> => {
    const lines: { app?: string }[] = [];
    const log = pino({ level: "info" }, { write: (line) => void lines.push(JSON.parse(line) as { app?: string }) });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const state = { resource, params, traceparent, span: null, startedAt: performance.now(), reply: { status: 200 } };
    const ctx = { state, res: { destroyed: false } } as unknown as Context; // what it reads of a request
    const metrics = createMetrics("apiserver");
    await accessLog({ log, metrics, countUsage: () => undefined })(ctx, async () => undefined);
    return lines[0]?.app;
  };

  for (const [what, resource, params, app] of [
    ["the app that the path names", { _id: "whk_1", app_id: "app_2" }, { appId: "app_1" }, "app_1"],
    ["the app of what was found", { _id: "msg_1", app_id: "app_2" }, {}, "app_2"],
    ["the app that was found", { _id: "app_3" }, {}, "app_3"],
    ["none for an incident, which is the installation's", { _id: "inc_1" }, {}, undefined],
  ] as const) {
    it(`names ${what}`, async () => expect(await appOf(resource, params)).to.equal(app));
  }
});
