import { expect } from "chai";
import { type CommandStartedEvent, type Document, MongoClient } from "mongodb";
import { newId } from "#core/domain/ids.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { type MessageFilter, messageCollection, messages } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { aMessage } from "../../../../support/rows/work.ts";
import { testDatabase } from "../../../../support/servers/database.ts";
import { testServers } from "../../../../support/servers/servers.ts";

const never = new AbortController().signal;
const of = { tenantId: "ten_1", appId: "app_1" };

describe("a list of messages", () => {
  const db = testDatabase("message_list", [messageCollection]);
  let client: MongoClient;
  let sent: Document[];

  before(async () => {
    client = await MongoClient.connect((await testServers()).mongodbUrl, { monitorCommands: true });
    client.on("commandStarted", ({ command }: CommandStartedEvent) => void sent.push(command));
    const rows = Array.from({ length: 300 }, (_, n) =>
      aMessage({
        _id: newId("message", new Date(n + 1)),
        category: n % 100 === 0 ? "rare" : n % 2 === 0 ? "usual" : null,
        labels: n % 100 === 0 ? ["rare"] : ["usual"],
        status: n % 100 === 0 ? "failed" : "completed",
        ...(n === 0 && { idempotency_key: "rare" }),
        ...(n % 100 === 0 && { template_id: "tpl_rare" }),
      }),
    );
    await collectionOf<MessageRow>(db(), messageCollection).insertMany(rows);
  });
  after(() => client.close());

  const lists: { by: string; filter: MessageFilter; index: string; found: number }[] = [
    { by: "nothing", filter: {}, index: "list", found: 101 },
    { by: "category", filter: { category: "rare" }, index: "list_by_category", found: 3 },
    { by: "label", filter: { label: "rare" }, index: "list_by_label", found: 3 },
    { by: "status", filter: { status: "failed" }, index: "list_by_status", found: 3 },
    { by: "template", filter: { templateId: "tpl_rare" }, index: "list_by_template", found: 3 },
    { by: "category and status", filter: { category: "rare", status: "failed" }, index: "list_by_category", found: 3 },
    { by: "key", filter: { idempotencyKey: "rare" }, index: "idempotency_of_operation", found: 1 },
  ];
  for (const { by, filter, index, found } of lists) {
    it(`by ${by} reads the index of that, in its order`, async () => {
      sent = [];
      const page = { after: null, isDescending: true, limit: 101 };
      const { rows } = await messages(client.db(db().databaseName)).list({ ...of, filter }, page, never);
      const ids = rows.map(({ _id }) => _id);
      expect(ids).to.have.length(found).and.deep.equal(ids.toSorted().reverse());
      const { find, filter: where, sort, hint } = sent[0] ?? {};
      const plan = await db().command({ explain: { find, filter: where, sort, hint }, verbosity: "queryPlanner" });
      expect(JSON.stringify(plan)).to.include(`"indexName":"${index}"`);
      expect(JSON.stringify(plan)).to.include(`"Index Name":"${index}"`);
    });
  }
});
