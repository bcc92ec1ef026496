import { expect } from "chai";
import { parseFilter } from "#core/domain/filters/parse.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { SegmentPeople } from "#core/storage/segments/people.ts";
import { previewSegment } from "../../../../apiserver/segments/preview.ts";
import { anApp, aUser } from "../../../support/rows/fixtures.ts";

const filter = { all: [{ field: "language", op: "eq", value: "de" }] };
const checked = { filter, tree: parseFilter(filter), names: [], definitions: new Map() };
const log = { warn: () => undefined } as unknown as Log; // sound: nothing else is logged

describe("the preview of a segment", () => {
  const app = anApp({ tenant_id: "ten_1" });
  let nowMs = 1_000_000;
  let people = 1;
  let goOn = Promise.resolve();
  let reads = 0;
  const all: SegmentPeople["all"] = async function* () {
    reads++;
    await goOn;
    yield Array.from({ length: people }, () => ({
      person: aUser({ tenant_id: "ten_1", app_id: app._id, language: "de" }),
      subscriptions: [],
    }));
  };
  const preview = previewSegment({ people: { all }, clock: { now: () => new Date(nowMs) }, log, waitMs: 20 });
  const ask = () => preview(app, checked);

  it("says nothing of what it could not count in time, and has it when it is asked again", async () => {
    const held = Promise.withResolvers<void>();
    goOn = held.promise;
    expect(await ask()).to.deep.include({ users: null, is_exact: false, as_of: null });
    held.resolve();
    await ask();
    expect(await ask()).to.deep.include({ users: 1, is_exact: true, as_of: new Date(nowMs).toISOString() });
    expect(reads, "one count for all of them").to.equal(1);
  });

  it("says which tags nobody has", async () => {
    const tags = { all: [{ field: "tags.plam", op: "eq", value: "gold" }] };
    const { warnings } = await preview(app, { ...checked, filter: tags, tree: parseFilter(tags) });
    expect(warnings).to.deep.equal(["filter.all[0]: nobody has the tag plam"]);
  });

  it("shows the last count with its instant while it is counted anew", async () => {
    const countedAt = new Date(nowMs).toISOString();
    [nowMs, people] = [nowMs + 60_000, 2];
    const held = Promise.withResolvers<void>();
    goOn = held.promise;
    expect(await ask()).to.deep.include({ users: 1, is_exact: false, as_of: countedAt });
    held.resolve();
    await ask();
    expect(await ask()).to.deep.include({ users: 2, is_exact: true, as_of: new Date(nowMs).toISOString() });
  });
});
