import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { Timing } from "#core/domain/timing.ts";
import type { Partitioning } from "#core/domain/webhooks/partitions.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import type { Resolve } from "#core/runtime/http/resolve.ts";
import type { MjmlCompiler } from "#core/runtime/mjml/compiler.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Apps } from "#core/storage/apps/apps.ts";
import type { Plans } from "#core/storage/plans/plans.ts";
import type { Fence } from "#core/storage/settings/managed.ts";
import type { Tenants } from "#core/storage/tenants/tenants.ts";
import type { Stores } from "../engine/stores.ts";
import type { Presence } from "../kube/api.ts";
import type { ConfigMaps } from "../kube/config-maps.ts";
import type { Secrets } from "../kube/secrets.ts";
import type { UsageBoard } from "../usage/board.ts";

/** Announces to the other programs that a document changed, and of which app it is or was: they drop their copies. */
export type Announce = (collection: string, id: string, appId?: string) => void;

/** What a kind may use. */
export type Platform = Base & { cascade: Cascade };

/** The part of it from which the rest is made. */
export type Base = {
  clock: Clock;
  db: Db;
  /** Has to be asked before every write; `managedRows` and `secrets` ask it themselves. */
  fence: Fence;
  announce: Announce;
  owners: Owners;
  stores: Stores;
  presence: Presence;
  /** Whether the operator looks at resources of a namespace. */
  isWatched: (namespace: string) => boolean;
  secrets: Secrets;
  configMaps: ConfigMaps;
  keyRing: KeyRing;
  randomBytes: (size: number) => Buffer;
  jetstream: JetStream;
  timing: Pick<Timing, "placeMs">;
  network: Network;
  /** Compiles the mails of templates. */
  mjml: Pick<MjmlCompiler, "compileTemplate">;
  /** What tenants use, as it was read last. */
  usage: Pick<UsageBoard, "of">;
  /** Address of the REST interface, as its users reach it. */
  publicUrl: string;
};

/** The documents that others belong to. Reads of one turn of the event loop are shared, whichever kind asks. */
export type Owners = { plans: Plans; tenants: Tenants; apps: Apps };

export type JetStream = {
  nats: Pick<Nats, "js" | "jsm" | "isConnected">;
  /** First part of every stream's name and of every subject. */
  prefix: string;
  /** Copies that JetStream keeps of a stream. */
  replicas: number;
  timing: Pick<Timing, "ackWaitMs">;
  partitioning: Partitioning;
};

/** Judges the addresses of webhooks, and says where their names lead. */
export type Network = { guard: AddressGuard; resolve: Resolve };

/** Removes the records that go with their owner, whoever made them. Each call may be repeated after a crash. */
export type Cascade = { ofTenant: (tenantId: string) => Promise<void>; ofApp: (appId: string) => Promise<void> };
