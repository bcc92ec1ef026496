import { type Sharding, shardings } from "#core/storage/sharding.ts";
import type { GeneratedFile } from "../generated-file.ts";
import { code, table } from "./markdown.ts";

/** docs/reference/sharding.md: the shard key of every large collection, and what all shards are asked. */
export const shardingPage = (): GeneratedFile[] => [{ path: "docs/reference/sharding.md", text: page() }];

const page = (): string => `# Shard keys

<!-- Generated from core/storage/sharding.ts by \`make generate\`. -->

A MongoDB of one replica set needs none of this. Where one is not enough, the large collections can be spread over shards by
these keys; the others stay on one. **It has not been run on a sharded MongoDB**: the keys follow from the unique indexes and from
the queries that the service makes, all of which a test looks at. It needs MongoDB 7.0 or later, which changes documents without
their shard key.

- A hashed \`_id\` spreads writes evenly, and what is known by its id is found on one shard.
- MongoDB keeps an index unique only when it begins with the shard key. So users, subscriptions and the like, which are unique in
  their app, are spread by app: all of an app is on one shard, and an installation with one very large app gains nothing.
- What has another condition than the key is asked of all shards. Each looks into its own index, so that it costs each of them a
  look-up. In the other direction, every index that is there on one server is there on each shard.

${table(
  ["Collection", "Key", "Also asked of all shards"],
  shardings.map((sharding) => [code(sharding.collection.name), keyOf(sharding), scatteredOf(sharding)]),
)}
`;

const keyOf = ({ key }: Sharding): string => code(key === "app_id" ? "{ app_id: 1 }" : `{ ${key.hashed}: "hashed" }`);

const scatteredOf = ({ scattered }: Sharding): string =>
  scattered.length === 0 ? "nothing" : scattered.map(({ by, because }) => `by ${code(by)}: ${because}`).join("<br>");
