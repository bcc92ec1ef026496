import { OkReply } from "#core/schema/json/error.ts";
import {
  CreateLiveActivityChannel,
  LiveActivityChannel,
  LiveActivityChannelList,
} from "#core/schema/live-activities/channel.ts";
import type { ActivityChannelRow } from "#core/storage/live-activities/channels.ts";
import { existing } from "../http/locate.ts";
import { done, type Located, routeOf } from "../http/route.ts";
import { type channelUse, channelView } from "./channels.ts";
import { type FindType, typeOfPath } from "./send-routes.ts";

type Use = {
  find: FindType;
  channels: ReturnType<typeof channelUse>;
};

const path = "/v1/apps/{appId}/live-activities/types/{activityType}/channels";

const route = routeOf<Use>({ tag: "Live activities", scopes: ["admin"] });

const channelOfPath = async (located: Located<Use>): Promise<ActivityChannelRow> => {
  const type = await typeOfPath(located);
  return existing(await located.use.channels.find(type, located.params["channelId"] ?? ""), "live activity channel");
};

export const channelRoutes = [
  route({
    id: "listLiveActivityChannels",
    method: "GET",
    path,
    summary: "List the broadcast channels of a live activity type",
    reply: LiveActivityChannelList,
    locate: typeOfPath,
    handle: async ({ use, resource }) => ({ body: { data: await use.channels.list(resource) } }),
  }),

  route({
    id: "createLiveActivityChannel",
    method: "POST",
    path,
    summary: "Have a broadcast channel made at Apple",
    status: [201],
    errors: ["HS_QUOTA_EXCEEDED"],
    body: CreateLiveActivityChannel,
    reply: LiveActivityChannel,
    locate: typeOfPath,
    feature: "live_activities",
    repeatable: {
      made: async ({ use, resource, newId }) => {
        const row = await use.channels.find(resource, newId("liveActivityChannel"));
        return row === null ? null : { body: channelView(row) };
      },
    },
    handle: async ({ use, body, resource, newId }) => ({
      body: await use.channels.create(resource, newId("liveActivityChannel"), body),
    }),
  }),

  route({
    id: "deleteLiveActivityChannel",
    method: "DELETE",
    path: `${path}/{channelId}`,
    summary: "Have a broadcast channel deleted at Apple",
    reply: OkReply,
    locate: channelOfPath,
    handle: ({ use, resource }) => done(use.channels.remove(resource)),
  }),
];
