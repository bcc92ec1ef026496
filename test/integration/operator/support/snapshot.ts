import { allKinds } from "../../../../operator/kinds/all.ts";
import type { Installation, Seen } from "./harness.ts";

const resources = allKinds.map(({ definition }) => definition.plural);
const collections = allKinds.map(({ collection }) => collection.name);

/** All that the operator writes, in full: documents, streams, resources and Secrets with their versions. */
export const snapshotOf = async ({ db, nats, client, id }: Installation): Promise<Record<string, unknown[]>> => {
  const objects = async (path: string): Promise<Seen[]> => {
    const selector = path.startsWith("/apis") ? `?labelSelector=herald.dev%2Ftest%3D${id}` : "";
    const request = { method: "GET", path: `${path}${selector}` } as const;
    return (await client.call<{ items: Seen[] }>(request, AbortSignal.timeout(60_000))).items;
  };
  const named: [string, Promise<unknown[]>][] = [
    ...collections.map(
      (name) => [name, db.collection(name).find().sort({ _id: 1 }).toArray()] as [string, Promise<unknown[]>],
    ),
    ...resources.map(
      (plural) =>
        [`${plural}.herald.dev`, objects(`/apis/herald.dev/v1alpha1/${plural}`)] as [string, Promise<unknown[]>],
    ),
    ["secrets", objects(`/api/v1/namespaces/${id}-a/secrets`)],
    ["streams", streamsOf(nats, id)],
  ];
  const entries = await Promise.all(named.map(async ([name, all]) => [name, JSON.parse(JSON.stringify(await all))]));
  return Object.fromEntries(entries) as Record<string, unknown[]>; // by the names of the kinds
};

/** The same without the terms of leaders: an operator that waited for a core for seconds begins another, and says so in each document. */
export const withoutTerms = <T>(seen: T): T =>
  JSON.parse(JSON.stringify(seen, (key, value: unknown) => (key === "epoch" ? undefined : value))) as T; // all of it is JSON

const streamsOf = async ({ jsm }: Installation["nats"], id: string): Promise<unknown[]> => {
  const found: unknown[] = [];
  for await (const { config } of jsm.streams.list()) if (config.name.startsWith(`${id}-`)) found.push(config);
  return found.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
};
