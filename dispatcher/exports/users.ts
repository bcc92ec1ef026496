import type { Db } from "mongodb";
import type { FilteredPerson } from "#core/domain/filters/subject.ts";
import { judge } from "#core/domain/segments/judge.ts";
import { segmentMembers } from "#core/domain/segments/members.ts";
import { pagesOf } from "#core/storage/exports/pages.ts";
import { collectionOf, type OfApp } from "#core/storage/mongo/collection.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import type { FactsOf } from "#core/storage/segments/facts.ts";
import { segmentPeople } from "#core/storage/segments/people.ts";
import { appSegments } from "#core/storage/segments/segments.ts";
import type { ExportSource } from "./type.ts";

type ExportedUser = Pick<
  UserRow,
  "_id" | "external_id" | "tags" | "properties" | "session_count" | "first_seen_at" | "last_active_at" | "created_at"
>;

export const users: ExportSource<ExportedUser> = {
  columns: [
    { name: "id", of: (row) => row._id },
    { name: "external_id", of: (row) => row.external_id },
    { name: "tags", of: (row) => row.tags },
    { name: "properties", of: (row) => row.properties },
    { name: "session_count", of: (row) => row.session_count ?? 0 },
    { name: "first_seen_at", of: (row) => row.first_seen_at },
    { name: "last_active_at", of: (row) => row.last_active_at },
    { name: "created_at", of: (row) => row.created_at },
  ],
  pages: (db, of, { segment_id: segmentId }, factsOf) =>
    segmentId === undefined ? all(db, of) : membersOf({ db, factsOf }, of, segmentId),
};

const all = (db: Db, of: OfApp): AsyncIterable<ExportedUser[]> =>
  pagesOf(collectionOf<UserRow>(db, userCollection), of, {
    kind: "user",
    hint: "app",
    members: ["external_id", "tags", "properties", "session_count", "first_seen_at", "last_active_at", "created_at"],
  });

/** Those who are in a segment, as it is when they are read. @throws SegmentGone, SegmentCircle */
async function* membersOf(
  { db, factsOf }: { db: Db; factsOf: FactsOf },
  of: OfApp,
  segmentId: string,
): AsyncGenerator<FilteredPerson[]> {
  const definitions = await appSegments(db).definitions(of.appId, [segmentId]);
  const selection = segmentMembers(definitions, new Date()).ofSegment(segmentId);
  const { asks, mayPass, isOfPeople } = selection; // all that filters read is: rows are made of it
  const read = segmentPeople(db, factsOf).all(
    of,
    { asks, mayPass, isOfPeople, query: selection.query("users") },
    new AbortController().signal,
  );
  for await (const page of read)
    yield page.flatMap((judged) => (judge(selection, judged).isMember ? [judged.person] : []));
}
