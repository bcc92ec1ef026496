import { compileFilter, type Passes } from "../filters/compile.ts";
import type { Stored } from "../filters/fields.ts";
import { parseFilter } from "../filters/parse.ts";
import { preFilter, type Query } from "../filters/pre-filter.ts";
import type { Subject } from "../filters/subject.ts";
import { conditionsOf, type FilterTree } from "../filters/tree.ts";

/** What decides who is in a segment: its filter, or that somebody was put on its list. */
export type SegmentDefinition = { _id: string; kind: "filter" | "list"; filter: unknown };

/** Segments by their ids: those that are asked about, and all that these name. */
export type Definitions = ReadonlyMap<string, SegmentDefinition>;

/** Who is meant. */
export type Selection = {
  passes: Passes;
  /** What the store can judge of it: whoever passes is found by this, others may be too. */
  query: (of: Stored["of"]) => Query;
  /** It asks nothing about subscriptions: somebody without one can pass. */
  isOfPeople: boolean;
};

/** Who is in a segment cannot be said: because of another one that it names. */
export class UnusableSegment extends Error {}

/** A filter names a segment that is gone. */
export class SegmentGone extends UnusableSegment {
  readonly segmentId: string;
  constructor(segmentId: string) {
    super(`names the segment ${segmentId}, which is gone`);
    this.segmentId = segmentId;
  }
}

/** Segments name each other in a circle; two changes at the same moment can bring that about. */
export class SegmentCircle extends UnusableSegment {}

/**
 * Opens segments and filters that name some, all judged at `now`. What several name is asked once for each subject.
 * @throws SegmentGone, SegmentCircle when one is opened
 */
export const segmentMembers = (definitions: Definitions, now: Date) => {
  const opened = new Map<string, Selection | "opening">();

  const ofSegment = (id: string): Selection => {
    const known = opened.get(id);
    if (known === "opening") throw new SegmentCircle(`names the segment ${id}, which leads to itself`);
    if (known !== undefined) return known;
    const definition = definitions.get(id);
    if (definition === undefined) throw new SegmentGone(id);
    opened.set(id, "opening");
    const selection = definition.kind === "list" ? onList(id) : onceEach(ofFilter(parseFilter(definition.filter)));
    opened.set(id, selection);
    return selection;
  };

  /** Of segments only the lists are asked of the store: the queries of what filters name would have no bound. */
  const listQuery = (id: string, of: Stored["of"]): Query =>
    definitions.get(id)?.kind === "list" ? ofSegment(id).query(of) : {};

  const ofFilter = (tree: FilterTree): Selection => ({
    passes: compileFilter(tree, now, (id) => ofSegment(id).passes),
    query: (of) => preFilter(tree, of, now, (id) => listQuery(id, of)),
    isOfPeople: conditionsOf(tree).every(({ name, field, value }) =>
      name === "segment" ? ofSegment(String(value)).isOfPeople : field.level === "user",
    ),
  });

  return { ofSegment, ofFilter };
};

export type SegmentMembers = ReturnType<typeof segmentMembers>;

const onList = (id: string): Selection => ({
  passes: ({ person }) => person.lists?.includes(id) === true,
  query: (of) => (of === "users" ? { lists: id } : {}),
  isOfPeople: true,
});

/** Remembers the answer about the subject that was asked about last. */
const onceEach = (selection: Selection): Selection => {
  let last: Subject | null = null;
  let answer = false;
  const passes: Passes = (subject) => {
    if (subject !== last) [answer, last] = [selection.passes(subject), subject];
    return answer;
  };
  return { ...selection, passes };
};
