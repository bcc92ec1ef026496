import { isDeepStrictEqual } from "node:util";
import { hashOf } from "#core/domain/api-keys/hashes.ts";
import type { Sealed } from "#core/runtime/process/key-ring.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { allKinds } from "../../../../operator/kinds/all.ts";
import type { Kind } from "../../../../operator/records/kind.ts";
import type { Installation, Manifest, Seen } from "./harness.ts";
import { textOf } from "./manifests.ts";

type Row = { _id: string; managed: { uid: string } | null } & Record<string, unknown>;
/** What a document must hold for its resource. */
type ExpectedRow = (seen: Seen, row: Row) => Promise<object>;

/**
 * Compares what is wanted with what is, in full and both ways: every resource is ready, and has its document with its
 * members, its stream and its Secret; there is no other document and no other stream. Gives what differs, in words.
 */
export const differences = async (herald: Installation): Promise<string[]> => {
  const wanted = wantedOf(herald);
  const found = await Promise.all(allKinds.map((kind) => differencesOf(herald, kind, wanted[kind.definition.kind])));
  return [...found.flat(), ...(await streamDifferences(herald))];
};

const wantedOf = (herald: Installation): Record<string, ExpectedRow> => {
  const ring = keyRing(herald.settings.keyRing);
  const secretOf = async ({ metadata }: Seen, name: string) => {
    const ref: Manifest = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: metadata.namespace ?? "" } };
    return herald.get(ref);
  };
  const spec = (seen: Seen) => seen.spec as Record<string, never>;
  return {
    Plan: async (seen) => {
      const { title, apiRps, webhookEndpoints, retentionDays, backlogPerTenant, waitingEventMegabytes, features } =
        spec(seen);
      const numbers = { api_rps: apiRps, webhook_endpoints: webhookEndpoints, retention_days: retentionDays };
      return {
        title,
        ...numbers,
        backlog_per_tenant: backlogPerTenant,
        waiting_event_bytes: waitingEventMegabytes === undefined ? null : Number(waitingEventMegabytes) * 1_000_000,
        features: [...(features ?? [])].toSorted(inOrder),
      };
    },
    Tenant: async (seen) => ({
      name: seen.metadata.name,
      plan: spec(seen)["plan"],
      namespaces: spec(seen)["namespaces"],
    }),
    App: async (seen) => ({
      name: seen.metadata.name,
      time_zone: spec(seen)["timeZone"],
      ...(spec(seen)["importHuaweiAs"] !== undefined && { import_huawei_as: spec(seen)["importHuaweiAs"] }),
    }),
    ApiKey: async (seen) => {
      const secret = await secretOf(seen, spec(seen)["connectionSecretName"] ?? "");
      return { scopes: spec(seen)["scopes"], hashes: [{ hash: hashOf(textOf(secret, "token")), expires_at: null }] };
    },
    Webhook: async (seen, row) => {
      const secret = textOf(await secretOf(seen, spec(seen)["secretName"] ?? ""), "secret");
      const isSame = ring.open(row["secret"] as Sealed, `webhooks/${row._id}/secret`) === secret; // as WebhookRow says
      return {
        url: spec(seen)["url"],
        events: [...(spec(seen)["events"] ?? [])].toSorted(inOrder),
        secret: isSame ? row["secret"] : secret,
      };
    },
    Incident: async (seen) => ({ title: spec(seen)["title"], severity: spec(seen)["severity"] }),
    LiveActivityType: async (seen) => ({
      name: spec(seen)["name"],
      content_state_schema: spec(seen)["contentStateSchema"],
      platforms: spec(seen)["platforms"] ?? ["ios"],
      frequent_updates: spec(seen)["frequentUpdates"] ?? false,
    }),
    Template: async (seen) => ({
      name: spec(seen)["name"],
      kind: spec(seen)["kind"],
      content: spec(seen)["content"],
    }),
    InAppMessage: async (seen) => ({ name: spec(seen)["name"], variants: spec(seen)["variants"] }),
    WarehouseExport: async (seen) => ({
      name: spec(seen)["name"],
      datasets: spec(seen)["datasets"],
      format: spec(seen)["format"],
    }),
    Segment: async (seen) => ({
      name: spec(seen)["name"],
      kind: spec(seen)["kind"],
      filter: spec(seen)["filter"] ?? null,
    }),
  };
};

const inOrder = (a: string, b: string): number => (a < b ? -1 : 1);

const differencesOf = async (
  herald: Installation,
  { definition: { kind, plural }, collection }: Kind,
  wanted: ExpectedRow | undefined,
): Promise<string[]> => {
  if (wanted === undefined) return [`nobody says what a ${kind} is to be`];
  const path = `/apis/herald.dev/v1alpha1/${plural}?labelSelector=herald.dev%2Ftest%3D${herald.id}`;
  const { items } = await herald.client.call<{ items: Seen[] }>({ method: "GET", path }, AbortSignal.timeout(60_000));
  const rows = new Map(
    (await herald.db.collection<Row>(collection.name).find().toArray()).map((row) => [row._id, row]),
  );
  const found = await Promise.all(
    items.map(async (seen): Promise<string[]> => {
      const what = `${kind} ${seen.metadata.name}`;
      const row = rows.get(seen.status?.id ?? "");
      rows.delete(seen.status?.id ?? "");
      if (row === undefined) return [`${what} has no document`];
      const problems = conditionProblems(seen).map((problem) => `${what} ${problem}`);
      if (row.managed?.uid !== seen.metadata.uid) problems.push(`${what}: its document is another's`);
      for (const [member, value] of Object.entries(await wanted(seen, row))) {
        if (!isDeepStrictEqual(row[member], value))
          problems.push(`${what}: ${member} is ${JSON.stringify(row[member])}`);
      }
      return problems;
    }),
  );
  return [...found.flat(), ...[...rows.keys()].map((id) => `${collection.name} ${id} has no resource`)];
};

const conditionProblems = ({ metadata, status }: Seen): string[] =>
  ["Ready", "Synced"].flatMap((wanted) => {
    const condition = status?.conditions?.find(({ type }) => type === wanted);
    const isTrue = condition?.status === "True" && condition.observedGeneration === metadata.generation;
    return isTrue
      ? []
      : [`is not ${wanted}: ${condition?.reason ?? "nothing said"} of ${condition?.observedGeneration ?? 0}`];
  });

const streamDifferences = async ({ db, nats, id }: Installation): Promise<string[]> => {
  const plans = await db.collection<{ _id: string; backlog_per_tenant: number }>("plans").find().toArray();
  const wanted = new Map(plans.map((plan) => [`${id}-work-${plan._id}`, plan.backlog_per_tenant]));
  const problems: string[] = [];
  for await (const { config } of nats.jsm.streams.list()) {
    if (!config.name.startsWith(`${id}-work-`)) continue;
    if (!wanted.has(config.name)) problems.push(`stream ${config.name} has no plan`);
    else if (wanted.get(config.name) !== config.max_msgs_per_subject)
      problems.push(`stream ${config.name} has other limits`);
    wanted.delete(config.name);
  }
  return [...problems, ...[...wanted.keys()].map((name) => `there is no stream ${name}`)];
};
