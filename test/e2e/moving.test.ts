import { expect } from "chai";
import type { CreateNotificationResult } from "#core/schema/messages/message.ts";
import type { Person } from "../../dev/demo/people.ts";
import type { Rest } from "../../dev/demo/rest.ts";
import { sendTo } from "../../dev/demo/send.ts";
import { eventually } from "./support/cluster/cluster.ts";
import { commandsOf, run } from "./support/pages.ts";
import { type System, system } from "./support/system.ts";
import { type Trial, trial } from "./support/trial.ts";

const messages = 20;
const deliveredWithinMs = 120_000;
const [keepResources = ""] = commandsOf("backup.md", "Back up");
const [keepPassword = "", dump = "", , restore = ""] = commandsOf("backup.md", "With the chart's own stores");
const [prepare = ""] = commandsOf("moving.md", "1. Prepare");
const [stopAccepting = "", showPending = "", ...stopSending] = commandsOf("moving.md", "2. Stop the old ones");
const [start = "", awaitStart = "", bringResources = ""] = commandsOf("moving.md", "4. Start the new ones");

/** What has to be the same in the other cluster. */
type Before = { rest: Rest; token: string; ids: string; sent: string[]; accepted: number };

/** The other cluster is the same one, from which all that Herald is and has was removed: it has nothing else that Herald sees. */
describe("Herald and the stores of its chart, moved to another cluster by the commands of the pages", function () {
  this.timeout(900_000); // every wait inside has a bound of its own
  let at: System;
  let installation: Trial;
  let person: Person;
  let stood: Before;
  let waiting: string[];
  let doubled: ReturnType<System["doubled"]>;

  before(async function () {
    at = await system();
    installation = (await trial(at)) ?? this.skip();
    await installation.ready();
    person = (await at.people())[0] ?? expect.fail("nobody to write to");
    doubled = at.doubled();
  });
  after(() => at?.apns.script({}));

  it("is stopped and dumped while no provider takes its messages", async () => {
    const { rest, token } = await at.client();
    const sent = await send(rest);
    await at.inbox.delivered(sent, deliveredWithinMs);
    stood = { rest, token, ids: await idsIn(at), sent, accepted: at.apns.log.counts().accepted };
    await run(at, keepResources);
    at.apns.script({ answers: [{ status: 503, reason: "ServiceUnavailable" }] });
    waiting = await send(rest);
    await eventually("a message that APNs refuses", deliveredWithinMs, async () =>
      at.apns.log.counts().answers["503 ServiceUnavailable"] ? true : null,
    );
    await run(at, stopAccepting);
    await eventually("nothing that JetStream alone has", 60_000, async () =>
      (await pendingIn(at)) === 0 ? true : null,
    );
    await run(at, [...stopSending, keepPassword, dump].join("\n"));
  });

  it("stands there with the same ids, and is ready", async () => {
    await installation.empty();
    await run(at, withValues(at, prepare));
    await at.prepare();
    await run(at, restore);
    at.apns.script({});
    await run(at, withValues(at, start) + awaitStart);
    await run(at, bringResources);
    await at.applyReferenced();
    expect(await idsIn(at)).to.equal(stood.ids);
  });

  it("takes the tokens that apps have, and signs with the secrets that receivers have", async () => {
    expect((await at.client()).token).to.equal(stood.token);
    const found = await stood.rest.get<{ status: string }>(`/v1/notifications/${stood.sent[0]}`);
    expect(found.status).to.equal("completed");
    const { delivery, isVerified } = await sendTo(person, stood.rest, at.at);
    expect({ delivery, isVerified }).to.deep.equal({ delivery: "sent", isVerified: true });
  });

  it("sends what was accepted once, and nothing again that was sent", async () => {
    await at.inbox.delivered(waiting, deliveredWithinMs);
    expect(at.doubled()).to.deep.equal(doubled);
    expect(at.apns.log.counts().accepted - stood.accepted).to.equal(waiting.length + 1); // and the one of the test before
  });
});

const send = (rest: Rest): Promise<string[]> =>
  Promise.all(
    Array.from({ length: messages }, async (_, n) => {
      const target = { include_external_ids: ["ada"], channels: ["ios_push"] };
      const body = { target, contents: { en: `Message ${n}` } };
      const { id } = await rest.post<CreateNotificationResult>("/v1/notifications", body);
      return id ?? expect.fail("the message was not accepted");
    }),
  );

/** Every resource with the id of its record. */
const idsIn = ({ cluster }: System): Promise<string> => {
  const columns = '{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name} {.status.id}{"\\n"}{end}';
  return cluster.kubectl(["get", "herald", "--all-namespaces", "--output", `jsonpath=${columns}`]);
};

/** What waits in streams whose messages are nowhere else. */
const pendingIn = async (at: System): Promise<number> => {
  const lines = (await run(at, showPending)).trim().split("\n");
  expect(lines).to.have.length.of.at.least(2);
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
};

/** The reader has values of their own, beside those for trials. */
const withValues = ({ release }: System, script: string): string => {
  const trialValues = "--values charts/herald/values-trial.yaml";
  expect(script).to.include(trialValues);
  return script.replace(trialValues, `${trialValues} --values ${release.values}`);
};
