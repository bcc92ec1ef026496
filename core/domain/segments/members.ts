import { type Assumed, compileFilter, type Passes } from "../filters/compile.ts";
import type { Reads, Stored } from "../filters/fields.ts";
import { type HistoryAsk, historyAsk } from "../filters/history.ts";
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
  /** The members of documents that decide. */
  reads: Reads;
  /** It asks nothing about subscriptions: somebody without one can pass. */
  isOfPeople: boolean;
  /** What has to be read of somebody before `passes` can be asked; null when nothing has to. */
  asks: Asks | null;
  /** Whether somebody may pass as far as can be said before that: whoever passes does. */
  mayPass: Passes;
};

/** What filters ask about people beside what is read of everybody, judged at `at`. */
export type Asks = { history: readonly HistoryAsk[]; isSuppressed: boolean; at: Date };

/** All that several read, each member once. */
export const joinedReads = (all: readonly Reads[]): Reads => ({
  users: [...new Set(all.flatMap(({ users }) => users))],
  subscriptions: [...new Set(all.flatMap(({ subscriptions }) => subscriptions))],
});

/** All that several ask; null when that is nothing. */
export const joinedAsks = (all: readonly (Asks | null)[]): Asks | null => {
  const asks = all.filter((one) => one !== null);
  const [first] = asks;
  if (first === undefined) return null;
  const history = new Map(asks.flatMap((one) => one.history).map((one) => [one.key, one]));
  return { at: first.at, history: [...history.values()], isSuppressed: asks.some((one) => one.isSuppressed) };
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
  const supposed = new Map<string, Passes>(); // what is assumed before facts are read

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

  const compiled = (tree: FilterTree, assumed?: Assumed): Passes => compileFilter(tree, now, passesOf, assumed);

  const passesOf = (id: string, assumed?: Assumed): Passes => {
    const { asks, passes } = ofSegment(id);
    if (asks === null || assumed === undefined) return passes;
    const key = `${assumed} ${id}`;
    const known = supposed.get(key) ?? compiled(parseFilter(definitions.get(id)?.filter), assumed);
    supposed.set(key, known);
    return known;
  };

  const ofFilter = (tree: FilterTree): Selection => {
    const [passes, asks] = [compiled(tree), asksOf(tree, now, ofSegment)];
    return { ...restOf(tree), passes, asks, mayPass: asks === null ? passes : compiled(tree, "passes") };
  };

  const restOf = (tree: FilterTree): Pick<Selection, "query" | "isOfPeople" | "reads"> => ({
    reads: readsOf(tree, ofSegment),
    query: (of) => preFilter(tree, of, now, (id) => listQuery(id, of)),
    isOfPeople: conditionsOf(tree).every(({ name, field, value }) =>
      name === "segment" ? ofSegment(String(value)).isOfPeople : field.level === "user",
    ),
  });

  return { ofSegment, ofFilter };
};

type OfSegment = (id: string) => Selection;

const asksOf = (tree: FilterTree, at: Date, ofSegment: OfSegment): Asks | null =>
  joinedAsks(
    conditionsOf(tree).map((condition) => {
      const { name, field, value } = condition;
      if (name === "segment") return ofSegment(String(value)).asks;
      const ask = historyAsk(condition);
      return field.isFact === true ? { history: ask === null ? [] : [ask], isSuppressed: ask === null, at } : null;
    }),
  );

const readsOf = (tree: FilterTree, ofSegment: OfSegment): Reads =>
  joinedReads(
    conditionsOf(tree).map(({ name, field, value }) =>
      name === "segment" ? ofSegment(String(value)).reads : field.reads,
    ),
  );

export type SegmentMembers = ReturnType<typeof segmentMembers>;

const onList = (id: string): Selection => ({
  passes: ({ person }) => person.lists?.includes(id) === true,
  query: (of) => (of === "users" ? { lists: id } : {}),
  isOfPeople: true,
  reads: { users: ["lists"], subscriptions: [] },
  asks: null,
  mayPass: ({ person }) => person.lists?.includes(id) === true,
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
