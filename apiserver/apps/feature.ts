import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { ChannelAccount, ChannelAccountList } from "#core/schema/apps/account.ts";
import { accountChecks } from "#core/storage/apps/account-checks.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { feature } from "../http/feature.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { docs } from "./openapi.ts";
import { channelAccounts, type Shown } from "./views.ts";

const make = ({ db, limit, clock }: { db: Db; limit: NarrowLimit; clock: Clock }) => {
  const checks = accountChecks(db);
  const list = async (app: AppRow): Promise<Shown[]> => channelAccounts(app, await checks.of(app));
  return {
    list,

    find: async (app: AppRow, channel = ""): Promise<Shown> =>
      existing((await list(app)).find((account) => account.channel === channel) ?? null, "account"),

    /** Has an account tested now, by a dispatcher. Source: docs/reference/channels.md#connection-test. */
    test: async (app: AppRow, { channel }: Shown): Promise<void> => {
      await limit("channels.test", `${app._id}/${channel}`);
      await checks.ask(app, [channel], clock.now());
    },
  };
};

type Use = ReturnType<typeof make>;
type Named = { app: AppRow; account: Shown };

const ofApp = "/v1/apps/{appId}/channels";

const route = routeOf<Use>({ tag: "Apps", scopes: ["admin"] });

/** The account that the path names. */
const accountOfPath = async (located: Located<Use>): Promise<Named> => {
  const app = await appOfPath(located);
  return { app, account: await located.use.find(app, located.params["channel"]) };
};

const routes = [
  route({
    id: "listChannels",
    method: "GET",
    path: ofApp,
    summary: "List the channels that an app has an account for, and what testing each came to",
    reply: ChannelAccountList,
    locate: appOfPath,
    handle: async ({ use, resource: app }) => ({ body: { data: await use.list(app) } }),
  }),

  route({
    id: "testChannel",
    method: "POST",
    path: `${ofApp}/{channel}/test`,
    summary: "Have the provider asked whether it takes the account; the list has the result in seconds",
    status: [202],
    reply: ChannelAccount,
    locate: accountOfPath,
    repeatable: {},
    handle: async ({ use, resource: { app, account } }) => {
      await use.test(app, account);
      return { body: account };
    },
  }),
];

/** Accounts of apps at providers: what they are set up with, and whether they work. */
export const apps = feature({ make, routes, ...docs });
