import { expect } from "chai";
import { partitioning } from "#core/domain/webhooks/partitions.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { type Receiver, startReceiver } from "../../../../dev/simulators/receiver.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { type Sending, startSending } from "../../../support/system/sending.ts";
import type { System, SystemProgram } from "../../../support/system/system.ts";
import { until } from "../../../support/until.ts";
import { loopbackAllowed } from "../../../support/webhooks/traffic.ts";

describe("an installation with 32 partitions of events", () => {
  const env = { ...loopbackAllowed, HERALD_EVENT_PARTITIONS: "32" };
  const { ofApp } = partitioning(32);
  let sending: Sending;
  let api: SystemProgram;
  let receiver: Receiver;

  before(async () => {
    sending = await startSending(await testServers());
    receiver = await startReceiver({ port: 0, answer: () => ({ status: 200 }) });
    api = await sending.system.start("apiserver", env);
    await sending.system.start("dispatcher", env);
  });
  after(async () => {
    await sending?.close();
    await receiver?.stop();
  });

  /** An organisation whose app no installation of sixteen would have put where it is. */
  const beyondSixteen = async (): Promise<System> => {
    const of = await sending.system.another();
    return ofApp(of.app._id) >= 16 ? of : beyondSixteen();
  };
  const post = async ({ app, token }: System, path: string, body: object): Promise<number> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const url = `${api.url}/v1/apps/${app._id}/${path}`;
    return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).status;
  };

  it("delivers each event once to every endpoint, of an app in one partition and of one that is spread over four", async () => {
    const [one, spread] = [await beyondSixteen(), await beyondSixteen()];
    const { db } = sending.system;
    await db.collection<AppRow>("apps").updateOne({ _id: spread.app._id }, { $set: { webhook_spread: 4 } });
    const endpoints = [one, ...Array.from({ length: 12 }, () => spread)];
    for (const [n, of] of endpoints.entries()) {
      const given = { url: `${receiver.url}/${n}`, events: ["event.received"], event_filters: { event_names: ["it"] } };
      expect(await post(of, "webhooks", given)).to.equal(201);
    }
    const placed = await db.collection<WebhookRow>("webhooks").distinct("partition", { app_id: spread.app._id });
    expect(placed.length).to.be.greaterThan(1);
    for (const organisation of [one, spread])
      expect(await post(organisation, "events", { events: [{ name: "it", external_id: "ann" }] })).to.equal(202);
    await until(() => receiver.received().length >= endpoints.length);
    const paths = receiver.received().map(({ path }) => path);
    expect(new Set(paths).size).to.equal(paths.length);
  });

  it("is not worked for by a program that was told of sixteen", async () => {
    const told = await sending.system.start("dispatcher", { ...env, HERALD_EVENT_PARTITIONS: "16" }).then(
      () => "it works",
      (error: unknown) => String(error),
    );
    expect(told).to.include("HERALD_EVENT_PARTITIONS is 16, and this installation was made with 32");
  });
});
