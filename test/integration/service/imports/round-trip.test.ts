import { expect } from "chai";
import fc from "fast-check";
import { cellText } from "#core/domain/exports/csv.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { downloaded, exportCalls, rowsOf } from "../../../support/system/exports.ts";
import { type Importer, type ImportSystem, startImporting } from "../../../support/system/importing.ts";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
const usual = text.filter((one) => /^[^.$\0][^.\0]*$/.test(one) && one !== "__proto__");
const name = fc.oneof({ weight: 5, arbitrary: usual }, fc.constantFrom("constructor", "toString")); // every object has these
const instant = fc.date({ min: new Date("2001-01-01"), max: new Date("2026-01-01"), noInvalidDate: true });
const json = fc.jsonValue({ maxDepth: 2 }).filter((one) => one !== null);

/** What a spreadsheet would calculate is among the texts, also with quotes before it. */
const id = fc.oneof(
  text,
  fc.constantFrom("=1+1", "'=1+1", "''=1+1", "+49", "-1x", "@a", "'tis", 'a"b', "a,b", "a\nb", "ü"),
);
const person = fc.record({
  tags: fc.dictionary(name, text, { maxKeys: 3 }),
  properties: fc.dictionary(name, json, { maxKeys: 3 }),
  sessions: fc.nat(1_000),
  first: instant,
  last: instant,
});

const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;

describe("users who are exported and imported again", () => {
  let site: ImportSystem;
  before(async () => {
    site = await startImporting(await testServers());
    await site.start("dispatcher");
  });
  after(() => site?.stop());

  const exported = async ({ app, token }: Importer): Promise<string> => {
    const calls = exportCalls({ app, token }, site.apiserver);
    const { download_url: address } = await calls.ended((await calls.create({ type: "users" })).id);
    const { pathname, search } = new URL(address ?? "");
    return downloaded(`${site.apiserver.url}${pathname}${search}`);
  };
  /** What of the rows is the person's, whatever their id here. */
  const peopleOf = async (file: string) =>
    (await rowsOf(file))
      .map(({ id: _id, created_at: _made, external_id: external = "", tags = "", properties = "", ...rest }) => ({
        ...rest,
        external,
        tags: JSON.parse(tags) as object,
        properties: JSON.parse(properties) as object,
      }))
      .sort((a, b) => (a.external < b.external ? -1 : 1));

  it("are the same", async () => {
    const some = fc.uniqueArray(fc.tuple(id, person), { selector: ([one]) => one, minLength: 20, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(some, async (given) => {
        const lines = given.map(([external, { tags, properties, sessions, first, last }]) =>
          [
            cellText(external),
            JSON.stringify(tags),
            JSON.stringify(properties),
            String(sessions),
            first.toISOString(),
            last.toISOString(),
          ]
            .map(quoted)
            .join(),
        );
        const [one, two] = [await site.other(), await site.other()];
        const columns = "external_id,tags,properties,session_count,first_seen_at,last_active_at";
        const taken = await one.take({ type: "csv_users", content: [columns, ...lines].join("\r\n") });
        const { created_users: created = 0, errors = 0 } = taken.stats;
        expect(created + errors).to.equal(given.length); // ids that are reserved or too long are refused
        const file = await exported(one);
        const same = await one.take({ type: "csv_users", content: file });
        expect(same.stats).to.include({ created_users: 0, updated_users: created, errors: 0 });
        const again = await two.take({ type: "csv_users", content: file });
        expect(again.stats).to.include({ created_users: created, errors: 0 });
        expect(await peopleOf(await exported(two))).to.deep.equal(await peopleOf(file));
      }),
      { numRuns: 4, interruptAfterTimeLimit: 120_000 }, // a counterexample is made smaller for so long
    );
  });
});
