import type { Db } from "mongodb";
import { type Backoff, backoffMs, type Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import { endingOf, type MediaProblem } from "#core/domain/conversations/media.ts";
import { hourMs } from "#core/domain/durations.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type ConversationRow, conversationCollection } from "#core/storage/conversations/conversation-row.ts";
import { folderOf } from "#core/storage/conversations/files.ts";
import {
  type ConversationMessageRow,
  conversationMessageCollection,
  type MediaRow,
} from "#core/storage/conversations/message-row.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { DueWork } from "#core/storage/work/due.ts";
import type { MediaAccess, MediaChannel } from "../conversations/media/access.ts";
import type { FetchMedia } from "../conversations/media/fetch.ts";
import { tenantTurns } from "../work/turns.ts";
import type { Job, JobResult, Progress } from "./job.ts";
import { job } from "./run.ts";

export type ConversationFilesJobDeps = {
  db: Db;
  directory: Pick<Directory, "app">;
  fetchMedia: FetchMedia;
  mediaAccess: (app: AppRow, channel: MediaChannel) => MediaAccess | null;
  files: Pick<FileStore, "kind" | "write" | "remove">;
  /** Aborts when the program stops. */
  stopping: AbortSignal;
  clock: Clock;
  random: Random;
};

type Row = ConversationMessageRow & DueWork;

/** Files of messages that are in memory at a time: 16 MiB each at most. */
const places = { places: 8, waiting: 56 };
const laterMs = 5_000;
/** Providers keep a file for some days, but its address for minutes. */
const givenUpMs = hourMs;
const pauses: Backoff = { firstMs: 5_000, capMs: 600_000, factor: 2 };

/** Copies the files of messages from their providers into the installation's store: docs/decisions/0168. */
export const conversationFilesJob = (deps: ConversationFilesJobDeps): Job => {
  const turns = tenantTurns(places);
  return job<Row>({
    name: "conversation_messages",
    rows: collectionOf<Row>(deps.db, conversationMessageCollection),
    isShort: true,
    run: async (row, progress) => {
      const ran = await turns(row.tenant_id, () => copyAll(deps, row, progress), deps.stopping);
      const dueAt = new Date(deps.clock.now().getTime() + laterMs);
      return ran === "later" ? { end: { dueAt, isWaiting: true } } : ran;
    },
  });
};

const copyAll = async (deps: ConversationFilesJobDeps, row: Row, progress: Progress): Promise<JobResult<Row>> => {
  const access = await accessOf(deps, row);
  const media: MediaRow[] = [];
  for (const [n, one] of (row.media ?? []).entries()) {
    media.push(one.status === "waiting" ? await copied(deps, { row, access, n }, one) : one);
    progress(1);
  }
  if (!(await isThere(deps.db, row))) await removeAll(deps.files, media, deps.stopping); // its person was deleted meanwhile
  const count = (status: MediaRow["status"]) => media.filter((one) => one.status === status).length;
  const tries = Math.max(row.fence - 1, 0); // each run takes the lease once
  const dueAt = new Date(deps.clock.now().getTime() + backoffMs(pauses, tries, deps.random));
  return {
    end: { dueAt: count("waiting") > 0 ? dueAt : null, set: { media, updated_at: deps.clock.now() } },
    facts: { stored: count("stored"), failed: count("failed"), waiting: count("waiting") },
  };
};

/** How the provider of a message is asked for its files; null when the app has no account there any more. */
const accessOf = async (
  { db, directory, mediaAccess }: ConversationFilesJobDeps,
  row: Row,
): Promise<MediaAccess | null> => {
  const conversations = collectionOf<ConversationRow>(db, conversationCollection);
  const [app, conversation] = await Promise.all([
    directory.app(row.app_id),
    conversations.findOne({ _id: row.conversation_id }, { projection: { channel: 1 } }),
  ]);
  if (app === null || conversation === null || conversation.channel === "email") return null;
  return mediaAccess(app, conversation.channel);
};

const isThere = async (db: Db, { _id }: Row): Promise<boolean> =>
  (await collectionOf<Row>(db, conversationMessageCollection).findOne({ _id }, { projection: { _id: 1 } })) !== null;

const removeAll = async (
  files: ConversationFilesJobDeps["files"],
  media: readonly MediaRow[],
  signal: AbortSignal,
): Promise<void> => {
  for (const { key } of media) if (key !== undefined) await files.remove(key, signal);
};

type Copying = { row: Row; access: MediaAccess | null; n: number };

const copied = async (
  { files, fetchMedia, stopping, clock }: ConversationFilesJobDeps,
  { row, access, n }: Copying,
  one: MediaRow,
): Promise<MediaRow> => {
  if (files.kind === "none") return failed(one, "no_store");
  if (access === null || one.source === undefined) return failed(one, "not_found");
  const fetched = await fetchMedia({ ...one.source, mimeType: one.mime_type }, access, stopping);
  const isLate = clock.now().getTime() - row.created_at.getTime() > givenUpMs;
  if (fetched.kind === "later") return isLate ? failed(one, fetched.problem) : one;
  if (fetched.kind === "failed") return failed(one, fetched.problem);
  const { body, mimeType, sha256 } = fetched;
  const key = `${folderOf(row.app_id, row.conversation_id)}${row._id}-${n}.${endingOf(mimeType)}`;
  await files.write(key, contentOf(body), { contentType: mimeType, signal: stopping });
  return { ...told(one), status: "stored", mime_type: mimeType, size_bytes: body.length, sha256, key };
};

async function* contentOf(body: Buffer): AsyncGenerator<Uint8Array> {
  yield body;
}

const failed = (one: MediaRow, problem: MediaProblem): MediaRow => ({ ...told(one), status: "failed", problem });

/** What its message said of a file, without where the provider has it: that address is good for minutes. */
const told = ({ type, filename, mime_type }: MediaRow) => ({ type, filename, mime_type });
