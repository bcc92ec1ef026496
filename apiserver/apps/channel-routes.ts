import { ChannelAccount, ChannelAccountList, PutChannelAccount } from "#core/schema/apps/account.ts";
import { OkReply } from "#core/schema/json/error.ts";
import { type Channel, channels } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { done, type Located, routeOf } from "../http/route.ts";
import type { AppUse } from "./use-cases.ts";
import type { Shown } from "./views.ts";

const ofApp = "/v1/apps/{appId}/channels";

const route = routeOf<AppUse>({ tag: "Apps", scopes: ["admin"] });

/** The account that the path names. */
const accountOfPath = async (located: Located<AppUse>): Promise<{ app: AppRow; account: Shown }> => {
  const app = await located.use.asItIs(await appOfPath(located));
  return { app, account: await located.use.find(app, located.params["channel"]) };
};

/** The channel that the path names, whether or not the app has an account for it. */
const channelOfPath = async (located: Located<AppUse>): Promise<{ app: AppRow; channel: Channel }> => {
  const app = await located.use.asItIs(await appOfPath(located));
  const named = channels.find((channel) => channel === located.params["channel"]) ?? null;
  return { app, channel: existing(named, "channel") };
};

/** The accounts of an app at providers, one for each channel. */
export const channelRoutes = [
  route({
    id: "listChannels",
    method: "GET",
    path: ofApp,
    summary: "List the channels that an app has an account for, and what testing each came to",
    reply: ChannelAccountList,
    locate: appOfPath,
    handle: async ({ use, resource: app }) => ({ body: { data: await use.list(await use.asItIs(app)) } }),
  }),

  route({
    id: "getChannel",
    method: "GET",
    path: `${ofApp}/{channel}`,
    summary: "Show the account of a channel without its secrets",
    reply: ChannelAccount,
    locate: accountOfPath,
    handle: async ({ resource: { account } }) => ({ body: account }),
  }),

  route({
    id: "putChannel",
    method: "PUT",
    path: `${ofApp}/{channel}`,
    summary: "Set up the account of a channel, whole; it is tested within seconds",
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    body: PutChannelAccount,
    reply: ChannelAccount,
    locate: channelOfPath,
    handle: async ({ use, caller, ip, requestId, body, resource: { app, channel } }) => {
      const changed = await use.channels.put({ caller, ip, requestId }, app, channel, body);
      return { body: await use.find(changed, channel) };
    },
  }),

  route({
    id: "deleteChannel",
    method: "DELETE",
    path: `${ofApp}/{channel}`,
    summary: "Remove the account of a channel: messages over it are refused from then on",
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    reply: OkReply,
    locate: accountOfPath,
    handle: ({ use, caller, ip, requestId, resource: { app, account } }) =>
      done(use.channels.remove({ caller, ip, requestId }, app, account.channel)),
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
