import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { IntendedChange } from "#core/storage/work/intended-changes.ts";
import { useEventSystem } from "../../../support/system/event-system.ts";
import { until } from "../../../support/until.ts";

const wanted = { url: "https://hooks.example.com/in", events: ["delivery.sent"] };

describe("events of changed settings", () => {
  const { servers, system, api, stream, rows, batches, isEmpty } = useEventSystem();

  const call = async (
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; id: string; secret?: string }> => {
    const reply = await fetch(`${api.url}/v1/apps/${system.app._id}/webhooks${path}`, {
      method,
      headers: { authorization: `Bearer ${system.token}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { ...((await reply.json()) as { id: string; secret?: string }), status: reply.status };
  };
  const actionsOn = (id: string) => stream.all().flatMap(({ data }) => (targetOf(data) === id ? [data["action"]] : []));
  const makeDue = () => rows().updateMany(batches, { $set: { due_at: new Date() } });
  const finished = (withinMs: number) =>
    until(async () => {
      await makeDue();
      return isEmpty();
    }, withinMs);

  it("arrive once, and nothing of them stays stored", async () => {
    const { id } = await call("POST", "", wanted);
    await call("PATCH", `/${id}`, { paused: true });
    await until(() => actionsOn(id).length >= 2);
    await until(isEmpty);
    expect(actionsOn(id)).to.have.members(["webhook.created", "webhook.updated"]);
  });

  it("arrive once by a dispatcher, under the ids they were stored with, when the apiserver is killed after the change", async () => {
    const [removed, changed] = [await call("POST", "", wanted), await call("POST", "", wanted)];
    await until(isEmpty);
    servers.nats.pause(); // so that nothing is published; the apiserver gives up after 2 s, and then knows what it made
    const replies = await Promise.all([
      call("POST", "", wanted),
      call("PATCH", `/${changed.id}`, { paused: true }),
      call("POST", `/${changed.id}/rotate-secret`),
      call("DELETE", `/${removed.id}`),
    ]);
    await api.kill();
    expect(replies.map(({ status }) => status)).to.deep.equal([201, 200, 200, 200]);
    const stored = await rows().find(batches).toArray();
    expect(stored.map(({ change }) => change?.kind)).to.have.members(["made", "changed", "changed", "removed"]);
    await servers.nats.kill();
    await Promise.all([servers.nats.start(), api.restart()]);
    await finished(40_000);
    await until(
      () => actionsOn(replies[0]?.id ?? "").length + actionsOn(changed.id).length + actionsOn(removed.id).length >= 6,
      10_000,
    );
    expect(actionsOn(replies[0]?.id ?? "")).to.deep.equal(["webhook.created"]);
    expect(actionsOn(changed.id)).to.have.members(["webhook.created", "webhook.updated", "webhook.secret_rotated"]);
    expect(actionsOn(removed.id)).to.have.members(["webhook.created", "webhook.deleted"]);
    const ids = stored.flatMap(({ events }) => events.map((event) => event.id));
    expect(stream.all().map((event) => event.id)).to.include.members(ids);
  });

  it("arrive later when JetStream is away, and the change is answered with its secret at once", async () => {
    await servers.nats.kill();
    const made = await call("POST", "", wanted);
    const rotated = await call("POST", `/${made.id}/rotate-secret`);
    expect([made.status, rotated.status]).to.deep.equal([201, 200]);
    expect([made.secret, rotated.secret].every((secret) => secret?.startsWith("whsec_"))).to.equal(true);
    expect((await call("DELETE", `/${made.id}`)).status).to.equal(200); // events tell also of what was made and is gone
    await until(async () => (await rows().countDocuments({ ...batches, change: { $exists: true } })) === 0);
    await servers.nats.start();
    await finished(40_000);
    await until(() => actionsOn(made.id).length >= 3);
    expect(actionsOn(made.id)).to.have.members(["webhook.created", "webhook.secret_rotated", "webhook.deleted"]);
  });

  it("of changes that a crash prevented are dropped", async () => {
    const { id } = await call("POST", "", wanted);
    await system.db.collection<WebhookRow>("webhooks").updateOne({ _id: id }, { $set: { updated_at: new Date() } });
    await finished(20_000); // the apiserver may still be without JetStream
    await leave({ collection: "webhooks", document_id: "whk_never", kind: "made" });
    await leave({ collection: "webhooks", document_id: id, kind: "changed" });
    await leave({ collection: "webhooks", document_id: id, kind: "removed" });
    await finished(20_000);
    await call("PATCH", `/${id}`, { paused: true }); // its event comes after theirs
    await finished(20_000);
    await until(() => actionsOn(id).includes("webhook.updated"));
    expect(stream.all().filter(({ data }) => data["action"] === "webhook.never")).to.deep.equal([]);
  });

  /** A batch as a crash leaves it between its storing and the change. */
  const leave = async (change: IntendedChange): Promise<void> => {
    const now = new Date();
    const [id, timestamp] = [newId("event", now), now.toISOString()];
    const data = { action: "webhook.never", target: { type: "webhook", id: change.document_id } };
    const event = {
      id,
      type: "audit.created",
      timestamp,
      app_id: system.app._id,
      subject_id: null,
      api_version: "1.0",
    };
    await rows().insertOne({
      _id: newId("eventBatch", now),
      tenant_id: system.tenantId,
      app_id: system.app._id,
      events: [{ id, type: "audit.created", text: JSON.stringify({ ...event, data }), once: false }],
      traceparent: null,
      change,
      due_at: now,
      lease: null,
      fence: 0,
      created_at: now,
    });
  };
});

const targetOf = ({ target }: Record<string, unknown>): unknown => (target as { id?: unknown } | undefined)?.id;
