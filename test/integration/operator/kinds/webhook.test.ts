import { expect } from "chai";
import { subjects } from "#core/queue/subjects.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { WebhookStatus } from "#core/schema/webhooks/resource.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { bucketMs, latencyBoundsMs, webhookStats } from "#core/storage/webhooks/stats.ts";
import { type WebhookRow, webhookCollection, webhookDefaults } from "#core/storage/webhooks/webhooks.ts";
import { type RemovalRow, removalCollection } from "#core/storage/work/removals.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest, type Started } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: a Webhook is all that the REST interface can make of an endpoint", () => {
  let herald: Installation;
  let started: Started;
  let make: ReturnType<typeof manifests>;

  const rows = () => collectionOf<WebhookRow>(herald.db, webhookCollection);
  const stats = () => webhookStats(herald.db);
  const statusOf = async (webhook: Manifest) => ((await herald.get(webhook))?.status ?? {}) as WebhookStatus;
  const rowOf = async (webhook: Manifest): Promise<WebhookRow> => {
    const row = await rows().findOne({ _id: (await statusOf(webhook)).id ?? "" });
    if (row === null) throw new Error(`no document of ${webhook.metadata.name}`);
    return row;
  };
  const headersOf = (row: WebhookRow) =>
    row.headers.map(({ name, value }) => {
      const plain = keyRing(herald.settings.keyRing).open(value, `webhooks/${row._id}/headers/${name}`);
      return `${name}: ${plain}`;
    });
  const passes = async (): Promise<number> => {
    const { values } = await started.metrics.reconciles.get();
    return values.reduce((sum, { labels, value }) => (labels.controller === "webhook" ? sum + value : sum), 0);
  };
  /** Waits until every Webhook has been looked at twice more. */
  const resynced = async () => {
    const wanted = (await passes()) + 2 * applied.size;
    await until(async () => (await passes()) >= wanted, 25_000);
  };
  /** What is announced from now on. */
  const announcements = async (): Promise<string[]> => {
    const announced: string[] = [];
    herald.nats.nc.subscribe(subjects(herald.id).allConfig(), {
      callback: (_error, message) => {
        const { id, app_id: app } = message.json<{ id: string; app_id?: string }>();
        announced.push(`${id} of ${app}`);
      },
    });
    await herald.nats.nc.flush();
    return announced;
  };
  const applied = new Set<string>();
  const apply = async (webhook: Manifest): Promise<void> => {
    applied.add(webhook.metadata.name);
    await herald.apply(webhook);
  };
  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    started = await herald.start({ settings: { resyncSeconds: 1 } });
    for (const object of [make.plan({ webhookEndpoints: 20 }), make.tenant(), make.iosSecret(), make.app()]) {
      await herald.apply(object);
    }
    await herald.ready(make.app());
  });
  after(() => herald.close());

  const shaped = () =>
    make.webhook(
      {
        description: "large orders",
        events: ["event.received", "delivery.sent"],
        eventNames: ["order.placed", "hs.conversation.message_received"],
        audience: "bot",
        batch: true,
        filters: {
          match: "any",
          conditions: [
            { field: "data.properties.total", op: "gte", value: 12.5 },
            { field: "data.properties.country", op: "in", value: ["DE", "AT"] },
            { field: "data.user_id", op: "exists" },
          ],
        },
        bodyTemplate: "order {{ data.name }}",
        bodyContentType: "text/plain",
        headers: [
          { name: "X-Source", value: "herald" },
          { name: "Authorization", valueFrom: { secretKeyRef: { name: "chat", key: "token" } } },
        ],
        paused: true,
        ratePerSecond: 5,
        maxInFlight: 2,
        timeoutMilliseconds: 5_000,
      },
      "shaped",
    );

  it("every member arrives in its document", async () => {
    await herald.apply(make.secret("chat", { token: "Bearer first\n" }));
    await apply(shaped());
    await herald.ready(shaped());
    const row = await rowOf(shaped());
    expect(row).to.deep.include({
      url: "https://hooks.example/a",
      description: "large orders",
      events: ["delivery.sent", "event.received"],
      event_names: ["hs.conversation.message_received", "order.placed"],
      audience: "bot",
      batch: true,
      filters: (shaped().spec as { filters: object }).filters,
      body_template: "order {{ data.name }}",
      body_content_type: "text/plain",
      paused: true,
      rate_per_second: 5,
      max_in_flight: 2,
      timeout_ms: 5_000,
      status: "active",
      recovery: null,
      notified: null,
    });
    expect(row.managed).to.include({ kind: "Webhook", namespace: `${herald.id}-a`, name: "shaped" });
    expect(headersOf(row)).to.deep.equal(["X-Source: herald", "Authorization: Bearer first"]);
    expect(JSON.stringify(row)).not.to.contain("first");
  });

  it("a header follows its Secret, and is sealed anew only then", async () => {
    const before = await rowOf(shaped());
    await herald.apply(make.secret("chat", { token: "Bearer second" }));
    await until(async () => headersOf(await rowOf(shaped())).includes("Authorization: Bearer second"), 25_000);
    await resynced();
    const after = await rowOf(shaped());
    await resynced();
    expect(await rowOf(shaped())).to.deep.equal(after);
    expect(after.updated_at.getTime()).to.be.greaterThan(before.updated_at.getTime());
  });

  it("a header whose Secret is gone or has two lines is reported, and the endpoint goes on with the former", async () => {
    await herald.remove(make.secret("chat", {}));
    await herald.ready(shaped(), "False", "SecretNotFound");
    await herald.apply(make.secret("chat", { token: "two\nlines" }));
    const { status } = await herald.ready(shaped(), "False", "SecretInvalid");
    expect(JSON.stringify(status)).not.to.contain("two").and.not.to.contain("lines");
    expect(headersOf(await rowOf(shaped()))).to.include("Authorization: Bearer second");
    await herald.apply(make.secret("chat", { token: "Bearer third" }));
    await herald.ready(shaped());
  });

  it("what a member says no more goes back to its default", async () => {
    const gone = { filters: null, bodyTemplate: null, headers: null, ratePerSecond: null, maxInFlight: null };
    await herald.patch(shaped(), { spec: { ...gone, description: null, batch: null } });
    await until(async () => (await rowOf(shaped())).headers.length === 0, 25_000);
    expect(await rowOf(shaped())).to.deep.include({
      filters: null,
      body_template: null,
      rate_per_second: null,
      max_in_flight: webhookDefaults.max_in_flight,
      description: null,
      batch: false,
    });
  });

  it("resumed, it is announced, so that its owner sends what was kept", async () => {
    const { _id, app_id: app } = await rowOf(shaped());
    const announced = await announcements();
    await herald.patch(shaped(), { spec: { paused: false } });
    await until(async () => !(await rowOf(shaped())).paused, 25_000);
    await until(() => announced.includes(`${_id} of ${app}`), 25_000);
  });

  it("a template that does not parse is refused", async () => {
    const webhook = make.webhook({ bodyTemplate: '{"a": {{ data.name }' }, "template");
    await apply(webhook);
    await herald.ready(webhook, "False", "TemplateInvalid");
    expect(await rows().countDocuments({ "managed.name": "template" })).to.equal(0);
  });

  it("a condition whose value does not suit its comparison is refused", async () => {
    const conditions = [{ field: "type", op: "between", value: "a" }];
    const webhook = make.webhook({ filters: { match: "all", conditions } }, "filter");
    await apply(webhook);
    const { status } = await herald.ready(webhook, "False", "FilterInvalid");
    expect(JSON.stringify(status?.conditions)).to.contain("spec.filters.conditions[0]");
  });

  it("a rotation is reported in status until the former secret's day is over", async () => {
    await herald.patch(shaped(), { metadata: { annotations: { "herald.dev/rotate": "1" } } });
    await until(async () => (await statusOf(shaped())).previousSecretValidUntil !== undefined, 25_000);
    const untilAt = Date.parse((await statusOf(shaped())).previousSecretValidUntil ?? "");
    expect(untilAt - Date.now()).to.be.within(86_300_000, 86_400_000);
    const { _id } = await rowOf(shaped());
    await until(async () => {
      const day = { $set: { "previous_secret.expires_at": new Date(0) } }; // a pass that began before puts it back
      await rows().updateOne({ _id, previous_secret: { $ne: null } }, day);
      return (await statusOf(shaped())).previousSecretValidUntil === undefined;
    }, 10_000);
    expect((await rowOf(shaped())).previous_secret).to.equal(null);
  });

  it("an endpoint that the service disabled is enabled by a new value of the annotation, once", async () => {
    const { _id } = await rowOf(shaped());
    const ended = { status: "disabled", disabled_reason: "gone", failure_count: 3, failing_since: new Date() } as const;
    const enable = (value: string) =>
      herald.patch(shaped(), { metadata: { annotations: { "herald.dev/enable": value } } });
    for (const value of ["1", "2"]) {
      await rows().updateOne({ _id }, { $set: { ...ended, notified: "disabled" } });
      await herald.ready(shaped(), "False", "EndpointDisabled");
      expect(await statusOf(shaped())).to.include({ state: "disabled", disabledReason: "gone" });
      await resynced();
      expect((await rowOf(shaped())).status, `before ${value}`).to.equal("disabled");
      await enable(value);
      await herald.ready(shaped());
      const anew = { status: "active", disabled_reason: null, failure_count: 0, failing_since: null, notified: null };
      expect(await rowOf(shaped())).to.deep.include(anew);
      expect(await statusOf(shaped())).to.include({ state: "active", enabledFor: value });
    }
  });

  it("how its requests went is reported in status, and written again only when that changes", async () => {
    const webhook = make.webhook({}, "busy");
    await apply(webhook);
    const { _id } = await herald.ready(webhook).then(() => rowOf(webhook));
    expect(await statusOf(webhook)).not.to.have.property("health");
    const start = new Date(Math.floor(Date.now() / bucketMs) * bucketMs);
    const add = (requests: number, succeeded: number) =>
      stats().add([{ endpointId: _id, start, requests, succeeded, latency: { 4: requests } }]);
    await stats().add([
      {
        endpointId: _id,
        start,
        requests: 1_000,
        succeeded: 979,
        latency: { 4: 1_000 },
        last_error: { class: "timeout", at: new Date() },
      },
    ]);
    await until(async () => (await statusOf(webhook)).health !== undefined, 25_000);
    const { health } = await statusOf(webhook);
    expect(health).to.include({
      successRate1h: "97%",
      p99Milliseconds1h: latencyBoundsMs[4],
      lastErrorClass: "timeout",
    });
    const version = (await herald.get(webhook))?.metadata.resourceVersion;
    await add(1_000, 0);
    await resynced();
    expect((await herald.get(webhook))?.metadata.resourceVersion).to.equal(version); // it changed less than a minute ago
  });

  it("suspended, it is disabled, and enabled again when it is not", async () => {
    await herald.patch(shaped(), { spec: { suspended: true } });
    await until(async () => (await rowOf(shaped())).status === "disabled", 25_000);
    await herald.patch(shaped(), { spec: { suspended: false } });
    await until(async () => (await rowOf(shaped())).status === "active", 25_000);
  });

  it("its removal begins that of what was sent to it", async () => {
    const { _id } = await rowOf(shaped());
    await herald.remove(shaped());
    await herald.gone(shaped());
    expect(await rows().findOne({ _id })).to.equal(null);
    expect(await collectionOf<RemovalRow>(herald.db, removalCollection).findOne({ _id })).to.include({
      kind: "webhook",
    });
  });

  it("an App's removal takes its endpoints that were made over REST, and announces it", async () => {
    await apply(make.webhook({}, "left"));
    await herald.ready(make.webhook({}, "left"));
    const { _id: _, ...like } = await rowOf(make.webhook({}, "left"));
    const ids = ["whk_rest1", "whk_rest2"];
    await rows().insertMany(ids.map((id) => ({ ...like, _id: id, managed: null })));
    const announced = await announcements();
    await herald.remove(make.app());
    await herald.gone(make.app());
    await until(() => ids.every((id) => announced.includes(`${id} of ${like.app_id}`)), 25_000);
    expect(await rows().countDocuments()).to.equal(0);
  });
});
